import { sql } from "kysely";
import type { z } from "zod";
import { because } from "../../../contract/causes/causes.ts";
import type { supplyTranscript as operation } from "../../../contract/transcripts/transcript-editing.ts";
import { foldName } from "../../../shared/fold-case.ts";
import { readSubtitles, TranscriptFileError } from "../../../shared/transcripts/subtitles.ts";
import { recordEvent } from "../../people/events/record-event.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import { invalidInput, ProblemError } from "../../platform/http/errors/problem.ts";
import { runInSlices } from "../../platform/run-in-slices.ts";
import { insertSegments, type NewSegment } from "../recordings/create.ts";
import { lockFor } from "../recordings/rights.ts";
import type { TimedWord } from "./align-words.ts";
import { endTranscription } from "./end-transcription.ts";
import { reportHighlights } from "./highlights.ts";
import { findParticipants, nextVersion } from "./queries.ts";
import { completeRenewal, findFormer } from "./replace.ts";
import { type StoredWordTimes, storeAllWordTimes } from "./word-times.ts";
import { checkVersion, type EditResult, editorOf } from "./write-edit.ts";

type Input = z.output<(typeof operation)["body"]>;

/** A longer list of violations of one file helps nobody. */
const maxViolations = 20;
/** The API's limit of a speaker's name. */
const maxSpeakerName = 320;

/**
 * Replaces a recording's transcript by a supplied one in one transaction: the segments, the version, the history, the
 * events and the follow-up work.
 * @param onTranscript the follow-up work.
 * @throws ProblemError `not_found`, `forbidden`; `wrong_state` when the caller saw another version, or the transcript
 * was edited and `edits` is not set; `invalid_input` for segments that start after the end of the file, unless they are
 * of a subtitle file with others.
 */
export async function supplyTranscript(
  db: Database,
  principal: Principal,
  recordingId: string,
  input: Input,
  onTranscript: (tx: Tx, recording: { readonly id: string; readonly workspaceId: string }) => Promise<void>,
): Promise<EditResult & Pick<Supplied, "unread">> {
  const { segments: read, unread } = await readSegments(input);
  const times = await storeAllWordTimes(
    read.map(({ words = [], ...segment }) => ({ ...segment, words: timed(words) })),
  );
  const supplied = read.map((segment, index) => ({ ...segment, word_times: times[index] ?? null }));
  return db.kysely.transaction().execute(async (tx) => {
    const recording = await lockFor(tx, principal, recordingId, "change", "supply its transcript");
    await checkVersion(tx, recordingId, input.transcript_version);
    const former = await findFormer(tx, recordingId);
    if (input.edits === undefined && former.some(({ original }) => original !== null))
      throw new ProblemError("wrong_state", because("transcript_has_edits"));
    const late = await fitLength(tx, recordingId, supplied, input.webvtt !== undefined);
    const segments = await attribute(
      tx,
      recordingId,
      supplied.filter((segment) => !late.has(segment)),
    );
    await sql`delete from transcript_segments where recording_id = ${recordingId}`.execute(tx);
    await insertSegments(tx, recordingId, segments);
    await confirm(tx, segments);
    const version = await nextVersion(tx, recordingId);
    await sql`
      update recordings set transcript_language = ${input.language ?? null} where id = ${recordingId}`.execute(
      tx,
    );
    await endTranscription(tx, recordingId);
    // Labels of the new transcript may be those of other voices.
    await sql`delete from recording_voices where recording_id = ${recordingId}`.execute(tx);
    const number = await completeRenewal(tx, recordingId, {
      edits: input.edits ?? "discard",
      version,
      former,
      fresh: segments,
      suppliedBy: { userId: editorOf(principal) },
    });
    await reportHighlights(tx, recordingId, null);
    await recordEvent(tx, {
      workspaceId: recording.workspace_id,
      type: "recording_updated",
      subjectId: recordingId,
      data: {},
    });
    await onTranscript(tx, { id: recordingId, workspaceId: recording.workspace_id });
    return {
      transcript_version: version,
      edit: number,
      segments_changed: segments.length,
      unread: withLate(unread, late),
    };
  });
}

/** A segment as supplied. */
interface SuppliedSegment {
  readonly speaker: string;
  /** Milliseconds from the start of the recording. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly words?:
    | readonly { readonly text: string; readonly start: number; readonly end: number }[]
    | undefined;
}

/** How long reading may keep other requests waiting. */
const maxBlockingMs = 10;

/** What was supplied, and what of it could not be read. */
interface Supplied {
  readonly segments: readonly SuppliedSegment[];
  readonly unread: { count: number; first: { line: number | null; reason: string }[] };
}

/** @throws ProblemError `invalid_input` for subtitles of which nothing can be read. */
export async function readSegments({
  segments,
  webvtt,
}: Pick<Input, "segments" | "webvtt">): Promise<Supplied> {
  if (webvtt === undefined) return { segments: segments ?? [], unread: { count: 0, first: [] } };
  try {
    const read = await runInSlices(readSubtitles(webvtt), maxBlockingMs);
    return {
      segments: read.segments.map(({ speaker_key: speaker, ...cue }) => ({
        ...cue,
        speaker: speaker.slice(0, maxSpeakerName).replace(/[\ud800-\udbff]$/, ""),
      })),
      unread: { count: read.unread.count, first: [...read.unread.first] },
    };
  } catch (error) {
    if (!(error instanceof TranscriptFileError)) throw error;
    throw invalidInput([
      { pointer: "/webvtt", ...because("subtitles_unreadable", { reason: error.message }) },
    ]);
  }
}

/**
 * A segment after the end of the file belongs to another file; a recording without a file is as long as its transcript.
 * @param isFile whether the segments are those of a subtitle file, of which the others are used.
 * @returns the segments to leave out.
 */
async function fitLength<S extends SuppliedSegment>(
  tx: Tx,
  recordingId: string,
  segments: readonly S[],
  isFile: boolean,
): Promise<ReadonlySet<SuppliedSegment>> {
  const { rows } = await sql<{ duration_ms: number; has_media: boolean }>`
    select duration_ms, exists (select 1 from recording_media m where m.recording_id = r.id) as has_media
    from recordings r where id = ${recordingId}`.execute(tx);
  const { duration_ms: durationMs = 0, has_media: hasMedia = false } = rows[0] ?? {};
  if (!hasMedia) {
    const length = segments.reduce((end, segment) => Math.max(end, segment.end), 0);
    await sql`
      update recordings set duration_ms = ${length},
        end_datetime = start_datetime + make_interval(secs => ${length}::double precision / 1000)
      where id = ${recordingId}`.execute(tx);
    return new Set();
  }
  const late = new Set(segments.filter(({ start }) => start > durationMs));
  if (isFile && late.size < segments.length) return late;
  const violations = segments.flatMap(({ start }, index) =>
    start > durationMs
      ? [
          {
            pointer: isFile ? "/webvtt" : `/segments/${index}/start`,
            ...because("after_recording_end", { ms: durationMs }),
          },
        ]
      : [],
  );
  if (violations.length > 0) throw invalidInput(violations.slice(0, isFile ? 1 : maxViolations));
  return new Set();
}

/** What could not be read, with the segments that are left out. */
function withLate(unread: Supplied["unread"], late: ReadonlySet<SuppliedSegment>): Supplied["unread"] {
  const reasons = [...late].map(({ text }) => ({
    line: null,
    reason: `“${text.slice(0, 40).toWellFormed()}” is after the end of the recording`,
  }));
  return {
    count: unread.count + late.size,
    first: [...unread.first, ...reasons].slice(0, maxViolations),
  };
}

/** The speaker: the participant of that name if it is unique, otherwise a speaker of that name. */
async function attribute(
  tx: Tx,
  recordingId: string,
  segments: readonly (SuppliedSegment & { readonly word_times: StoredWordTimes | null })[],
): Promise<NewSegment[]> {
  const byName = new Map<string, { readonly id: string; readonly name: string } | null>();
  for (const [id, { name }] of await findParticipants(tx, recordingId))
    byName.set(foldName(name), byName.has(foldName(name)) ? null : { id, name });
  return segments
    .toSorted((a, b) => a.start - b.start)
    .map(({ speaker, start, end, text, word_times }) => {
      const person = byName.get(foldName(speaker)) ?? null;
      return {
        participant_id: person?.id ?? null,
        speaker: person?.name ?? speaker,
        start_ms: start,
        end_ms: end,
        text,
        word_times,
      };
    });
}

function timed(words: NonNullable<SuppliedSegment["words"]>): TimedWord[] {
  return words.map(({ text, start, end }) => ({ text, time: { start, end } }));
}

/** A participant who is heard took part. */
async function confirm(tx: Tx, segments: readonly NewSegment[]): Promise<void> {
  const heard = [...new Set(segments.flatMap(({ participant_id: id }) => id ?? []))];
  if (heard.length === 0) return;
  await sql`
    update participants set confirmed_attendee = true, is_invited = false
    where id = any(${heard}::uuid[]) and (not confirmed_attendee or is_invited)`.execute(tx);
}
