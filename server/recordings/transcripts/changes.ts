import type { SegmentChange, SegmentValues, TranscriptChanges } from "../../platform/db/json-columns.ts";

export const noChanges: TranscriptChanges = { segments: [], participants: [] };

/** The changes that undo an edit. */
export function invert({ segments, participants }: TranscriptChanges): TranscriptChanges {
  return {
    segments: segments.map(({ positions, before, after }) => ({ positions, before: after, after: before })),
    participants: participants.map(({ id, before, after }) => ({ id, before: after, after: before })),
  };
}

/** The same changes when some participants are gone: their lines stay unassigned, as deleting them left these. */
export function withoutParticipants(
  changes: TranscriptChanges,
  isThere: (id: string) => boolean,
): TranscriptChanges {
  const known = (values: SegmentValues): SegmentValues =>
    values.participant_id && !isThere(values.participant_id) ? { ...values, participant_id: null } : values;
  return {
    segments: changes.segments.map(({ positions, before, after }) => ({
      positions,
      before: known(before),
      after: known(after),
    })),
    participants: changes.participants.filter(({ id }) => isThere(id)),
  };
}

export function countSegments({ segments }: TranscriptChanges): number {
  return segments.reduce((sum, { positions }) => sum + positions.length, 0);
}

/** The speaker of a segment. */
export interface Identity {
  readonly participant_id: string | null;
  readonly speaker: string;
}

export function isSameIdentity(a: Identity, b: Identity): boolean {
  return a.participant_id === b.participant_id && a.speaker === b.speaker;
}

/** Assigns segments to a speaker: one change per former speaker; segments that are already theirs are left out. */
export function giveTo(
  to: Identity,
  segments: readonly (Identity & { readonly position: number })[],
): SegmentChange[] {
  const groups = new Map<string, { before: Identity; positions: number[] }>();
  for (const { position, participant_id, speaker } of segments) {
    const before = { participant_id, speaker };
    if (isSameIdentity(before, to)) continue;
    const key = JSON.stringify([participant_id, speaker]);
    const group = groups.get(key) ?? { before, positions: [] };
    group.positions.push(position);
    groups.set(key, group);
  }
  return [...groups.values()].map(({ before, positions }) => ({
    positions,
    before: { speaker: before.speaker, participant_id: before.participant_id },
    after: { speaker: to.speaker, participant_id: to.participant_id },
  }));
}
