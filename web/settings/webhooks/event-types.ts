import type { HookType } from "../../api/settings/webhooks.ts";

/** Event types of the newest API version, in groups. */
export const eventTypes = [
  { group: "Recordings", items: ["recording_added", "recording_updated", "recording_deleted"] },
  { group: "Highlights", items: ["highlight_added", "highlight_updated", "highlight_deleted"] },
  { group: "Stories", items: ["story_added", "story_updated", "story_deleted"] },
  { group: "Uploads", items: ["upload_added", "upload_updated"] },
  { group: "Transcriptions", items: ["transcription_updated"] },
] as const satisfies readonly { group: string; items: readonly HookType[] }[];

const recording = {
  participants: "Participants",
  highlights: "Highlights",
  ai_summary: "Summary",
  ai_action_items: "Action items",
  ai_template_sections: "Sections",
  private_notes: "My private notes",
  calendar_event: "Calendar event",
  crm: "CRM",
  screenshares: "Screen shares",
};
const highlight = { transcript: "Transcript", speakers: "Speakers" };
const upload = { attributes: "Attributes", transcript: "Transcript" };

/** Labels of the data that an event type can include. */
export function includesOf(type: HookType): Readonly<Record<string, string>> {
  if (type.endsWith("_deleted")) return {};
  if (type.startsWith("recording_")) return recording;
  if (type.startsWith("highlight_")) return highlight;
  if (type.startsWith("upload_") && type !== "upload_status") return upload;
  return {};
}

/** `recording_added` as a label: Recording added. */
export function eventTypeLabel(type: HookType): string {
  return type.charAt(0).toUpperCase() + type.slice(1).replaceAll("_", " ");
}
