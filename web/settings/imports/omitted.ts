import { plural } from "@lingui/core/macro";
import { number } from "../../common/format/numbers.ts";

/** What each code of an import's omissions counts. */
const texts: Readonly<Record<string, (count: number) => string>> = {
  recorders_without_user: (count) =>
    plural(count, { one: "# recorder without user", other: "# recorders without user" }),
  shares_without_user: (count) =>
    plural(count, { one: "# share without user", other: "# shares without user" }),
  private_notes_without_user: (count) =>
    plural(count, { one: "# private note without user", other: "# private notes without user" }),
  participants: (count) => plural(count, { one: "# participant", other: "# participants" }),
  transcript_entries: (count) => plural(count, { one: "# transcript entry", other: "# transcript entries" }),
  teams: (count) => plural(count, { one: "# team", other: "# teams" }),
  meeting_type: (count) => plural(count, { one: "# meeting type", other: "# meeting types" }),
  screenshares: (count) => plural(count, { one: "# screen share", other: "# screen shares" }),
  highlights: (count) => plural(count, { one: "# highlight", other: "# highlights" }),
  summary_feedback: (count) =>
    plural(count, { one: "# rating of a summary", other: "# ratings of summaries" }),
  comments: (count) => plural(count, { one: "# comment", other: "# comments" }),
  source: (count) => plural(count, { one: "# source", other: "# sources" }),
  share_state: (count) => plural(count, { one: "# share state", other: "# share states" }),
  tags: (count) => plural(count, { one: "# tag", other: "# tags" }),
  calendar_event: (count) => plural(count, { one: "# calendar event", other: "# calendar events" }),
  crm: (count) => plural(count, { one: "# CRM record", other: "# CRM records" }),
  unread_lines: (count) => plural(count, { one: "# unreadable line", other: "# unreadable lines" }),
  unreadable_duration: (count) =>
    plural(count, { one: "# unreadable duration", other: "# unreadable durations" }),
  unreadable_action_items: (count) =>
    plural(count, { one: "# unreadable action item", other: "# unreadable action items" }),
  unreadable_participants: (count) =>
    plural(count, { one: "# unreadable participant", other: "# unreadable participants" }),
  unreadable_recorders: (count) =>
    plural(count, { one: "# unreadable recorder", other: "# unreadable recorders" }),
  unreadable_sentences: (count) =>
    plural(count, { one: "# unreadable sentence", other: "# unreadable sentences" }),
  unreadable_summaries: (count) =>
    plural(count, { one: "# unreadable summary", other: "# unreadable summaries" }),
  unreadable_times: (count) => plural(count, { one: "# unreadable time", other: "# unreadable times" }),
};

/** What was left out, such as "2 recorders without user". A code of a newer server is shown as it is. */
export function omittedTexts(omitted: Readonly<Record<string, number>>): string[] {
  return Object.entries(omitted).map(
    ([code, count]) => texts[code]?.(count) ?? `${number(count)} ${code.replaceAll("_", " ")}`,
  );
}
