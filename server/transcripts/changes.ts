/** What of a segment an edit changes; times never. */
export interface SegmentValues {
  readonly text?: string;
  readonly speaker?: string;
  readonly participant_id?: string | null;
}

/** Segments that an edit changes in the same way. */
export interface SegmentChange {
  readonly positions: readonly number[];
  readonly before: SegmentValues;
  readonly after: SegmentValues;
}

interface ParticipantValues {
  readonly name?: string;
  readonly confirmed_attendee?: boolean;
}

export interface ParticipantChange {
  readonly id: string;
  readonly before: ParticipantValues;
  readonly after: ParticipantValues;
}

/** Everything an edit writes, with what was there before. No segment is named twice. */
export interface Changes {
  readonly segments: readonly SegmentChange[];
  readonly participants: readonly ParticipantChange[];
}

export const noChanges: Changes = { segments: [], participants: [] };

/** What takes an edit back. */
export function invert({ segments, participants }: Changes): Changes {
  return {
    segments: segments.map(({ positions, before, after }) => ({ positions, before: after, after: before })),
    participants: participants.map(({ id, before, after }) => ({ id, before: after, after: before })),
  };
}

/** The same changes where some participants are gone: what they said is nobody's, as deleting them left it. */
export function withoutParticipants(changes: Changes, isThere: (id: string) => boolean): Changes {
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

export function countSegments({ segments }: Changes): number {
  return segments.reduce((sum, { positions }) => sum + positions.length, 0);
}

/** Who speaks in a segment. */
export interface Identity {
  readonly participant_id: string | null;
  readonly speaker: string;
}

export function isSameIdentity(a: Identity, b: Identity): boolean {
  return a.participant_id === b.participant_id && a.speaker === b.speaker;
}

/** Gives segments to a speaker: one change for each former speaker; what is theirs already stays out. */
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
