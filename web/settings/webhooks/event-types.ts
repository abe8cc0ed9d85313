import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { versionNames } from "../../../contract/versions.ts";
import { type HookType, hookTypes, hookTypesIn } from "../../../contract/webhooks/hook-types.ts";

const newest = versionNames[versionNames.length - 1] ?? versionNames[0];

type Subject<Type extends HookType = HookType> = Type extends `${infer Name}_${string}` ? Name : never;

const subjects: Readonly<Record<Subject, MessageDescriptor>> = {
  recording: msg`Recordings`,
  highlight: msg`Highlights`,
  story: msg`Stories`,
  upload: msg`Uploads`,
  transcription: msg`Transcriptions`,
  comment: msg`Comments`,
};

/** Labels of event types. */
export const eventTypeLabels: Readonly<Record<HookType, MessageDescriptor>> = {
  recording_added: msg`Recording added`,
  recording_updated: msg`Recording updated`,
  recording_deleted: msg`Recording deleted`,
  highlight_added: msg`Highlight added`,
  highlight_updated: msg`Highlight updated`,
  highlight_deleted: msg`Highlight deleted`,
  story_added: msg`Story added`,
  story_updated: msg`Story updated`,
  story_deleted: msg`Story deleted`,
  upload_added: msg`Upload added`,
  upload_updated: msg`Upload updated`,
  upload_status: msg`Upload status`,
  transcription_updated: msg`Transcription updated`,
  comment_added: msg`Comment added`,
  comment_updated: msg`Comment updated`,
  comment_deleted: msg`Comment deleted`,
};

/** Event types of the newest API version, in groups by what they are about. */
export const eventTypes = [
  ...Map.groupBy(hookTypesIn(newest), (type) => type.slice(0, type.indexOf("_")) as Subject),
].map(([subject, items]) => ({ group: subjects[subject], items }));

/** Labels of the data that can be included. */
const labels = {
  recording: {
    participants: msg`Participants`,
    highlights: msg`Highlights`,
    ai_summary: msg`Summary`,
    ai_action_items: msg`Action items`,
    ai_template_sections: msg`Sections`,
    private_notes: msg`My private notes`,
    calendar_event: msg`Calendar event`,
    crm: msg`CRM`,
    screenshares: msg`Screen shares`,
  },
  highlight: { transcript: msg`Transcript`, speakers: msg`Speakers` },
  upload: { attributes: msg`Attributes`, transcript: msg`Transcript` },
};

/** Labels of the data that an event type can include. */
export function includesOf(type: HookType): Readonly<Record<string, MessageDescriptor>> {
  const { include } = hookTypes[type];
  return include === null ? {} : labels[include];
}
