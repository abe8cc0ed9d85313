import type { z } from "zod";
import type {
  assignSegments as assignOperation,
  correctTranscript as correctOperation,
  mergeSpeakers as mergeOperation,
  renameSpeaker as renameOperation,
} from "../../../contract/transcripts/transcript-editing.ts";
import { transcriptTooLong } from "../../../shared/transcripts/transcript-limits.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import type { SegmentChange } from "../../platform/db/json-columns.ts";
import { invalidInput } from "../../platform/http/errors/problem.ts";
import { giveTo } from "./changes.ts";
import { findIdentities, findParticipants, findSegmentsAt, growsTooLong } from "./queries.ts";
import { hear, planRename, resolveSpeaker, segmentsOf } from "./speakers.ts";
import { type EditResult, editTranscript } from "./write-edit.ts";

type Input<O extends { readonly body: z.ZodType }> = z.output<O["body"]>;

/** TranscriptChanges the text of segments; the others are not touched. */
export function correctTranscript(
  db: Database,
  principal: Principal,
  recordingId: string,
  input: Input<typeof correctOperation>,
): Promise<EditResult> {
  return editTranscript(db, principal, recordingId, input.transcript_version, async (tx) => {
    const positions = input.segments.map(({ index }) => index);
    const found = new Map(
      (await findSegmentsAt(tx, recordingId, positions)).map((segment) => [segment.position, segment]),
    );
    refuseUnknown("/segments", positions, (index) => found.has(index), "/index");
    const segments = input.segments.flatMap(({ index, text }): SegmentChange[] => {
      const before = found.get(index)?.text ?? "";
      return text === before ? [] : [{ positions: [index], before: { text: before }, after: { text } }];
    });
    if (segments.length === 0) return null;
    if (await growsTooLong(tx, recordingId, segments))
      throw invalidInput([
        { pointer: "/segments", detail: `make the transcript too long: it ${transcriptTooLong}` },
      ]);
    return { kind: "text", details: {}, changes: { segments, participants: [] } };
  });
}

/** Renames a speaker, and the participant who speaks. */
export function renameSpeaker(
  db: Database,
  principal: Principal,
  recordingId: string,
  input: Input<typeof renameOperation>,
): Promise<EditResult> {
  return editTranscript(db, principal, recordingId, input.transcript_version, async (tx) => {
    const participants = await findParticipants(tx, recordingId);
    const identities = await findIdentities(tx, recordingId);
    const speaker = resolveSpeaker("/speaker", input.speaker, participants, identities);
    const isTaken = identities.some((other) => other.participant_id === null && other.speaker === input.name);
    if (speaker.participant_id === null && isTaken && speaker.speaker !== input.name)
      throw invalidInput([
        { pointer: "/name", detail: "is the name of another speaker; merge the two instead" },
      ]);
    return planRename(speaker, input.name, participants, identities);
  });
}

/** Assigns all segments of some speakers to another one. */
export function mergeSpeakers(
  db: Database,
  principal: Principal,
  recordingId: string,
  input: Input<typeof mergeOperation>,
): Promise<EditResult> {
  return editTranscript(db, principal, recordingId, input.transcript_version, async (tx) => {
    const participants = await findParticipants(tx, recordingId);
    const identities = await findIdentities(tx, recordingId);
    const into = resolveSpeaker("/into", input.into, participants, identities);
    const from = input.from.map((reference, index) =>
      resolveSpeaker(`/from/${index}`, reference, participants, identities),
    );
    const taken = from.flatMap((speaker) => segmentsOf(speaker, identities));
    const unique = [...new Map(taken.map((segment) => [segment.position, segment])).values()];
    const segments = giveTo(into, unique);
    if (segments.length === 0) return null;
    return {
      kind: "merge",
      details: {
        speakers: from.map(({ participant_id, speaker }) => ({ participant_id, name: speaker })),
        to: { participant_id: into.participant_id, name: into.speaker },
      },
      changes: { segments, participants: hear(into, participants) },
    };
  });
}

/** Sets the speaker of some segments. */
export function assignSegments(
  db: Database,
  principal: Principal,
  recordingId: string,
  input: Input<typeof assignOperation>,
): Promise<EditResult> {
  return editTranscript(db, principal, recordingId, input.transcript_version, async (tx) => {
    const participants = await findParticipants(tx, recordingId);
    // The name may be new to the transcript.
    const to =
      input.to.name === undefined
        ? resolveSpeaker("/to", input.to, participants, [])
        : { participant_id: null, speaker: input.to.name };
    const chosen = await findChosen(tx, recordingId, input);
    const segments = giveTo(to, chosen);
    if (segments.length === 0) return null;
    return {
      kind: "assign",
      details: {
        speakers: segments.map(({ before }) => ({
          participant_id: before.participant_id ?? null,
          name: before.speaker ?? "",
        })),
        to: { participant_id: to.participant_id, name: to.speaker },
      },
      changes: { segments, participants: hear(to, participants) },
    };
  });
}

/** @throws ProblemError `invalid_input` listing every segment that does not exist. */
async function findChosen(tx: Tx, recordingId: string, input: Input<typeof assignOperation>) {
  if (input.indexes !== undefined) {
    const positions = [...new Set(input.indexes)];
    const found = await findSegmentsAt(tx, recordingId, positions);
    const known = new Set(found.map(({ position }) => position));
    refuseUnknown("/indexes", input.indexes, (index) => known.has(index));
    return found;
  }
  const [from, to] = [input.from_index ?? 0, input.to_index ?? 0];
  const found = await findIdentities(tx, recordingId, { from, to });
  const violations = [
    ...(found[0]?.position === from ? [] : [{ pointer: "/from_index", detail: noSegment }]),
    ...(found.at(-1)?.position === to ? [] : [{ pointer: "/to_index", detail: noSegment }]),
  ];
  if (violations.length > 0) throw invalidInput(violations);
  return found;
}

const noSegment = "is not a segment of this transcript";

/** A longer list of violations helps nobody. */
const maxViolations = 100;

function refuseUnknown(
  list: string,
  positions: readonly number[],
  isKnown: (position: number) => boolean,
  field = "",
): void {
  const violations = positions.flatMap((position, place) =>
    isKnown(position) ? [] : [{ pointer: `${list}/${place}${field}`, detail: noSegment }],
  );
  if (violations.length > 0) throw invalidInput(violations.slice(0, maxViolations));
}
