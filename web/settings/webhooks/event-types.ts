import { versionNames } from "../../../contract/versions.ts";
import { type HookType, hookTypes, hookTypesIn } from "../../../contract/webhooks/hook-types.ts";

const newest = versionNames[versionNames.length - 1] ?? versionNames[0];

/** Event types of the newest API version, in groups by what they are about. */
export const eventTypes = [
  ...Map.groupBy(hookTypesIn(newest), (type) => type.slice(0, type.indexOf("_"))),
].map(([subject, items]) => ({ group: capitalize(`${subject.replace(/y$/, "ie")}s`), items }));

/** Labels of the data that can be included. */
const labels = {
  recording: {
    participants: "Participants",
    highlights: "Highlights",
    ai_summary: "Summary",
    ai_action_items: "Action items",
    ai_template_sections: "Sections",
    private_notes: "My private notes",
    calendar_event: "Calendar event",
    crm: "CRM",
    screenshares: "Screen shares",
  },
  highlight: { transcript: "Transcript", speakers: "Speakers" },
  upload: { attributes: "Attributes", transcript: "Transcript" },
};

/** Labels of the data that an event type can include. */
export function includesOf(type: HookType): Readonly<Record<string, string>> {
  const { include } = hookTypes[type];
  return include === null ? {} : labels[include];
}

/** `recording_added` as a label: Recording added. */
export function eventTypeLabel(type: HookType): string {
  return capitalize(type).replaceAll("_", " ");
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
