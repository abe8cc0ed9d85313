import type { SegmentChange, SegmentValues } from "../../platform/db/json-columns.ts";
import { type Identity, isSameIdentity } from "./changes.ts";
import { indexOf, lengthOf, type Overlap, type Timed } from "./overlaps.ts";

/** A segment of the replaced transcript, as it was after all edits. */
export interface FormerSegment extends Identity, Timed {
  readonly text: string;
  /** Its original values; null: it was not edited. */
  readonly original: SegmentValues | null;
}

/** A segment of the new transcript, as generated. */
export interface FreshSegment extends Identity, Timed {
  readonly text: string;
}

/** An edit that could not be applied. */
export interface LostEdit {
  readonly start: number;
  readonly end: number;
  readonly text?: string;
  readonly speaker?: { readonly participant_id: string | null; readonly name: string };
}

/**
 * Applies the edits of a transcript to its replacement, matching by time alone. A corrected text replaces the segment
 * that covers the same time: each at least half of the other. A speaker who was renamed, merged or assigned to segments
 * is found as the voice that speaks at the same times.
 */
export function planReapply(
  former: readonly FormerSegment[],
  fresh: readonly FreshSegment[],
): { readonly changes: SegmentChange[]; readonly lost: LostEdit[] } {
  const overlapping = indexOf(fresh);
  const matches = former.map((segment) => findMatch(segment, overlapping(segment)));
  const texts = new Map<number, string>();
  const lost: LostEdit[] = [];
  former.forEach((segment, index) => {
    if (!isTextEdited(segment)) return;
    const match = matches[index];
    if (match === undefined || texts.has(match))
      lost.push({ start: segment.start_ms, end: segment.end_ms, text: segment.text });
    else texts.set(match, segment.text);
  });
  const identities = placeSpeakers(former, fresh, matches, overlapping);
  former.forEach((segment) => {
    if (!isIdentityEdited(segment)) return;
    const isPlaced = overlapping(segment).some(({ position }) => {
      const identity = identities.get(position) ?? fresh[position];
      return identity !== undefined && isSameIdentity(identity, segment);
    });
    if (isPlaced) return;
    const { participant_id, speaker, start_ms, end_ms } = segment;
    lost.push({ start: start_ms, end: end_ms, speaker: { participant_id, name: speaker } });
  });
  return { changes: toChanges(fresh, texts, identities), lost };
}

function isTextEdited({ original, text }: FormerSegment): boolean {
  return original?.text !== undefined && original.text !== text;
}

function isIdentityEdited({ original, speaker, participant_id }: FormerSegment): boolean {
  if (original === null) return false;
  return (
    (original.speaker !== undefined && original.speaker !== speaker) ||
    (original.participant_id !== undefined && original.participant_id !== participant_id)
  );
}

type Overlapping = ReturnType<typeof indexOf>;

/** The speaker of each new segment, where it differs from the generated one. */
function placeSpeakers(
  former: readonly FormerSegment[],
  fresh: readonly FreshSegment[],
  matches: readonly (number | undefined)[],
  overlapping: Overlapping,
): Map<number, Identity> {
  const voices = findVoices(former, overlapping, fresh);
  const placed = new Map<number, Identity>();
  const untouched = new Set<number>();
  former.forEach((segment, index) => {
    const match = matches[index];
    if (match === undefined) return;
    if (isIdentityEdited(segment)) placed.set(match, segment);
    else untouched.add(match);
  });
  fresh.forEach((segment, position) => {
    const voice = voices.get(keyOf(segment));
    // Speakers that nobody edited stay as generated.
    if (voice !== undefined && !placed.has(position) && !untouched.has(position)) placed.set(position, voice);
  });
  return placed;
}

/** The voices of the new transcript that mostly match a speaker named by edits. */
function findVoices(
  former: readonly FormerSegment[],
  overlapping: Overlapping,
  fresh: readonly FreshSegment[],
): Map<string, Identity> {
  type Share = { readonly identity: Identity; ms: number; editedMs: number };
  const tallies = new Map<string, Map<string, Share>>();
  for (const segment of former) {
    for (const { position, ms } of overlapping(segment)) {
      const voice = keyOf(fresh[position] as FreshSegment);
      const shares = tallies.get(voice) ?? new Map<string, Share>();
      const share = shares.get(keyOf(segment)) ?? { identity: segment, ms: 0, editedMs: 0 };
      share.ms += ms;
      if (isIdentityEdited(segment)) share.editedMs += ms;
      shares.set(keyOf(segment), share);
      tallies.set(voice, shares);
    }
  }
  const voices = new Map<string, Identity>();
  for (const [voice, shares] of tallies) {
    const all = [...shares.values()];
    const total = all.reduce((sum, { ms }) => sum + ms, 0);
    const first = all.reduce((best, share) => (share.ms > best.ms ? share : best));
    if (first.ms * 2 > total && first.editedMs * 2 > first.ms) voices.set(voice, first.identity);
  }
  return voices;
}

function keyOf({ participant_id, speaker }: Identity): string {
  return JSON.stringify([participant_id, speaker]);
}

/** The segment that covers the same time: each at least half of the other. */
function findMatch(segment: Timed, candidates: readonly Overlap[]): number | undefined {
  const best = candidates.reduce<Overlap | undefined>(
    (found, other) => (found === undefined || other.ms > found.ms ? other : found),
    undefined,
  );
  if (best === undefined) return undefined;
  return best.ms * 2 >= Math.max(best.length, lengthOf(segment)) ? best.position : undefined;
}

/** One change per text, and one for all segments that move from one speaker to another. */
function toChanges(
  fresh: readonly FreshSegment[],
  texts: ReadonlyMap<number, string>,
  identities: ReadonlyMap<number, Identity>,
): SegmentChange[] {
  const groups = new Map<string, { positions: number[]; before: SegmentValues; after: SegmentValues }>();
  fresh.forEach((segment, position) => {
    const text = texts.get(position);
    const identity = identities.get(position);
    const isText = text !== undefined && text !== segment.text;
    const isMoved = identity !== undefined && !isSameIdentity(identity, segment);
    if (!isText && !isMoved) return;
    const pick = (from: Identity, words: string): SegmentValues => ({
      ...(isText ? { text: words } : {}),
      ...(isMoved ? { speaker: from.speaker, participant_id: from.participant_id } : {}),
    });
    const before = pick(segment, segment.text);
    const after = pick(identity ?? segment, text ?? segment.text);
    const key = isText ? String(position) : JSON.stringify([before, after]);
    const group = groups.get(key) ?? { positions: [], before, after };
    group.positions.push(position);
    groups.set(key, group);
  });
  return [...groups.values()];
}
