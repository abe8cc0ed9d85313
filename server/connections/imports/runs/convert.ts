import { isEmoji, maxComments, maxReactions } from "../../../../contract/recordings/comments.ts";
import { fieldNames, recordingFields } from "../../../../contract/recordings/fields.ts";
import { maxHighlights } from "../../../../contract/recordings/highlight-operations.ts";
import { leavesAfterJoining } from "../../../../contract/recordings/participants.ts";
import type { PortableEntry } from "../../../../contract/recordings/portable.ts";
import { recordingLimits } from "../../../../contract/recordings/recordings.ts";
import { isTag } from "../../../../contract/recordings/tag.ts";
import { ImportInput } from "../../../../contract/uploads/imports.ts";
import { maxMentions, shortenComment } from "../../../../shared/mentions.ts";
import { parseTimestamp } from "../../../../shared/times/timestamp.ts";
import { maxMilliseconds, maxSegments } from "../../../../shared/transcripts/transcript-limits.ts";
import type { ImportedComment, ImportedData } from "../../../platform/db/json-columns.ts";
import type { ImportedFrom } from "../service.ts";
import { cleanStrings } from "../sources/clean-text.ts";
import { RecordingError } from "../sources/errors.ts";
import type { SourceMedia, SourceRecording } from "../sources/source.ts";
import type { Directory } from "./directory.ts";

/** A recording of a source as the request that imports it. */
export interface Converted {
  readonly input: ImportInput;
  readonly moved: ImportedFrom;
  /** What is left out, by code. */
  readonly omitted: Readonly<Record<string, number>>;
}

/** Counts what is left out, by code. */
class Omissions {
  readonly counts: Record<string, number> = {};

  add(code: string, count = 1): void {
    if (count > 0) this.counts[code] = (this.counts[code] ?? 0) + count;
  }

  /** The first of a list that has a limit. */
  limit<T>(code: string, list: readonly T[], max: number): readonly T[] {
    this.add(code, list.length - max);
    return list.slice(0, max);
  }

  /** A time that can be stored; null: none, or one that is no time here, such as of the year 0000, and is counted. */
  time(text: string | null | undefined): string | null {
    if (text == null || parseTimestamp(text) !== null) return text ?? null;
    this.add("unreadable_times");
    return null;
  }

  /** When a participant joined and left. */
  attendance(joined: string | null, left: string | null) {
    const [join, leave] = [this.time(joined), this.time(left)];
    const isInOrder = leavesAfterJoining({ observed_join_time: join, observed_leave_time: leave });
    if (!isInOrder) this.add("unreadable_times");
    return { observed_join_time: join, observed_leave_time: isInOrder ? leave : null };
  }
}

/**
 * Turns a recording of a source into an import of this workspace: users are found by email, teams and meeting types by
 * name, and what doesn't fit here is left out and counted.
 * @param importerId the user who owns recordings without a recorder here.
 * @throws RecordingError when nothing can be imported of it.
 */
export async function convert(
  source: SourceRecording,
  externalId: string,
  media: Pick<SourceMedia, "format" | "name" | "parts"> | null,
  { directory, importerId }: { readonly directory: Directory; readonly importerId: string },
): Promise<Converted> {
  const recording = cleanStrings(source.recording);
  const omissions = new Omissions();
  for (const [code, count] of Object.entries(source.omitted ?? {})) omissions.add(code, count);
  const people = omissions.limit("participants", recording.participants, recordingLimits.participants);
  const indexOf = new Map(people.map(({ id }, index) => [id, index]));
  const userIds = (code: string, list: readonly { readonly email: string }[]): string[] => {
    const ids = list.flatMap(({ email }) => directory.userId(email) ?? []);
    omissions.add(code, list.length - ids.length);
    return [...new Set(ids)];
  };
  const recorders = userIds("recorders_without_user", recording.recorders);
  const { entries, speakers } = speakersOf(
    cleanStrings(omissions.limit("transcript_entries", source.entries, maxSegments)),
    indexOf,
  );
  const type = recording.meeting_type;
  const typeId = type === null ? null : await directory.meetingTypeId(type.name, type.scope);
  if (type !== null && typeId === null) omissions.add("meeting_type");
  const screenshares = recording.screenshares.flatMap(({ start, end, participant_id }) => {
    const participant = indexOf.get(participant_id);
    return participant === undefined || end <= start ? [] : [{ start, end, participant }];
  });
  omissions.add("screenshares", recording.screenshares.length - screenshares.length);
  const parsed = ImportInput.safeParse({
    external_id: externalId,
    title: recording.title.slice(0, 500),
    start_datetime: recording.start_datetime,
    ...fitFields(source.sharesByDefault ? { ...recording, share_state: null } : recording, omissions),
    team_ids: await teamIds(recording.teams, directory, omissions),
    recorder_ids: recorders.length === 0 ? [importerId] : recorders.slice(0, recordingLimits.recorders),
    participants: people.map(({ id, name, email, phone, ...rest }) => ({
      name: name.slice(0, 320).trim() || null,
      email: email === null || !/^[^\s@]+@[^\s@]+$/.test(email) ? null : email.slice(0, 320),
      phone: phone?.slice(0, 320).trim() || null,
      ...(name.trim() || email || phone?.trim() ? {} : { name: "Unknown" }),
      crm_contact_id: rest.crm_contact_id,
      confirmed_attendee: rest.confirmed_attendee,
      attended: rest.attended,
      ...omissions.attendance(rest.observed_join_time, rest.observed_leave_time),
      speaker_key: keyOf(id, indexOf),
    })),
    screenshares: omissions.limit("screenshares", screenshares, recordingLimits.screenshares),
    ...(media === null
      ? {}
      : {
          media: {
            format: media.format,
            ...(media.name === undefined || recording.title.trim() !== "" ? {} : { name: media.name }),
            ...(media.parts === undefined ? {} : { parts: media.parts }),
          },
        }),
    ...(entries.length === 0 && media !== null
      ? {}
      : {
          transcript: {
            language: languageOf(recording.transcript_language),
            segments: entries.map(({ segment }) => segment),
          },
        }),
  });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new RecordingError(`${issue?.path.join(".")} ${issue?.message}`);
  }
  const notes = recording.private_notes.flatMap(({ email, text }) => {
    const id = directory.userId(email);
    return id === null ? [] : [{ user_id: id, text }];
  });
  omissions.add("private_notes_without_user", recording.private_notes.length - notes.length);
  // About a model of the other installation.
  omissions.add("summary_feedback", recording.summary_feedback?.length ?? 0);
  const data: ImportedData = {
    duration_ms: Math.min(recording.duration_ms, maxMilliseconds),
    meeting_type_id: typeId,
    meeting_type_by_hand: !recording.meeting_type_is_automatic,
    ai_summary: recording.ai_summary,
    ai_summary_points: recording.ai_summary_points ?? null,
    ai_action_items: recording.ai_action_items.map(({ participant_id, ...item }) => ({
      ...item,
      due_date: omissions.time(item.due_date),
      assignee: participant_id === null ? null : (indexOf.get(participant_id) ?? null),
    })),
    ai_template_sections: recording.ai_template_sections,
    ai_chapters: recording.ai_chapters ?? [],
    chapters_by_hand: recording.chapters_by_hand ?? false,
    highlights: omissions.limit("highlights", recording.highlights, maxHighlights).map((one) => ({
      text: one.text,
      start_ms: one.timestamp,
      duration_ms: one.duration,
      tags: one.tags.filter(isTag),
      created_at: omissions.time(one.created_datetime) ?? recording.start_datetime,
      created_by: one.created_by_email === null ? null : directory.userId(one.created_by_email),
    })),
    shared_user_ids: userIds("shares_without_user", recording.shared_users),
    private_notes: notes,
    comments: commentsOf(recording, directory, omissions),
    speakers,
    word_times: entries.some(({ times }) => times !== null) ? entries.map(({ times }) => times) : null,
  };
  const participants = people.map(({ scope, is_invited }) => ({
    ...(source.derivesScopes ? {} : { scope }),
    ...(is_invited ? { is_invited } : {}),
  }));
  // Shortened strings may end within a surrogate pair.
  return { input: cleanStrings(parsed.data), moved: { data, participants }, omitted: omissions.counts };
}

/** Comments with their users by email. One without a user here is counted, and stays without its text while it has replies. */
function commentsOf(
  { comments = [], start_datetime: start }: Pick<SourceRecording["recording"], "comments" | "start_datetime">,
  directory: Directory,
  omissions: Omissions,
): ImportedComment[] {
  const kept = omissions.limit("comments", comments, maxComments);
  const indexes = new Map(kept.map(({ id }, index) => [id, index]));
  const userOf = (email: string | null): string | null => (email === null ? null : directory.userId(email));
  return kept.map((comment): ImportedComment => {
    const { author_email: author, parent_id: parentId } = comment;
    const parent = parentId === null ? null : (indexes.get(parentId) ?? null);
    const isLost = parentId !== null && (parent === null || kept[parent]?.parent_id !== null);
    const userId = isLost ? null : userOf(author);
    if (author !== null && userId === null) omissions.add("comments");
    const createdAt = omissions.time(comment.created_datetime) ?? start;
    return {
      parent: isLost ? null : parent,
      user_id: userId,
      text: shortenComment(comment.text),
      timestamp: comment.timestamp,
      mentioned_ids: comment.mentioned_emails.flatMap((email) => userOf(email) ?? []).slice(0, maxMentions),
      reactions: comment.reactions
        .flatMap(({ emoji, email }) => {
          const user = userOf(email);
          return user === null || !isEmoji(emoji) ? [] : [{ emoji, user_id: user }];
        })
        .slice(0, maxReactions),
      created_at: createdAt,
      edited_at: omissions.time(comment.edited_datetime),
      resolved_at: comment.resolved_datetime && (omissions.time(comment.resolved_datetime) ?? createdAt),
      resolved_by: userOf(comment.resolved_by_email),
    };
  });
}

function languageOf(language: string | null): string {
  return language?.trim().slice(0, 35) || "und";
}

/** The fields that mean the same here. */
function fitFields(recording: Readonly<Record<string, unknown>>, omissions: Omissions) {
  return Object.fromEntries(
    fieldNames.map((name) => {
      const { input, omitted } = recordingFields[name].fit(recording[name]);
      omissions.add(name, omitted);
      return [name, input];
    }),
  );
}

async function teamIds(
  teams: readonly { readonly name: string }[],
  directory: Directory,
  omissions: Omissions,
): Promise<string[]> {
  const ids: string[] = [];
  for (const { name } of teams) {
    const id = await directory.teamId(name);
    if (id === null) omissions.add("teams");
    else ids.push(id);
  }
  return [...new Set(ids)].slice(0, recordingLimits.teams);
}

function keyOf(participantId: string, indexOf: ReadonlyMap<string, number>): string {
  return `p${indexOf.get(participantId)}`;
}

interface Segment {
  readonly segment: { speaker_key: string; start: number; end: number; text: string };
  readonly times: readonly (number | null)[] | null;
}

/** The entries with keys for their speakers, and the names that differ from the participants' names. */
function speakersOf(
  entries: readonly PortableEntry[],
  indexOf: ReadonlyMap<string, number>,
): { entries: Segment[]; speakers: Record<string, string> } {
  const speakers: Record<string, string> = {};
  const keys = new Map<string, string>();
  const segments = entries.map((entry): Segment => {
    const isKnown = entry.participant_id !== null && indexOf.has(entry.participant_id);
    let key = isKnown ? keyOf(entry.participant_id ?? "", indexOf) : keys.get(entry.speaker);
    if (key === undefined) {
      key = `s${keys.size}`;
      keys.set(entry.speaker, key);
      speakers[key] = entry.speaker;
    }
    const { start, end, text } = entry;
    const segment = { speaker_key: key, start, end: Math.max(start, end), text };
    return { segment, times: entry.word_times ?? null };
  });
  return { entries: segments, speakers };
}
