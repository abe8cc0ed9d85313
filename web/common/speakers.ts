import type { Segment, Speaker } from "../api/recording/recording.ts";

/** Identifies a speaker by participant id, or by name without one. */
export function speakerKey(speaker: {
  readonly participant_id: string | null;
  readonly name: string;
}): string {
  return speaker.participant_id ?? `name:${speaker.name}`;
}

export function segmentSpeakerKey({ participant_id, speaker }: Segment): string {
  return speakerKey({ participant_id, name: speaker });
}

/** A speaker as the API references it. */
export function speakerReference(speaker: { readonly participant_id: string | null; readonly name: string }) {
  return speaker.participant_id === null
    ? { name: speaker.name }
    : { participant_id: speaker.participant_id };
}

const colors = [
  "indigo",
  "teal",
  "orange",
  "grape",
  "cyan",
  "pink",
  "lime",
  "red",
  "blue",
  "yellow",
] as const;
export type SpeakerColor = (typeof colors)[number];

/** A color for each speaker, in order of talk time. */
export function colorsOf(speakers: readonly Speaker[]): ReadonlyMap<string, SpeakerColor> {
  const sorted = byTalk(speakers);
  return new Map(sorted.map((speaker, i) => [speakerKey(speaker), colors[i % colors.length] ?? "indigo"]));
}

/** Speakers by talk time, longest first. */
export function byTalk(speakers: readonly Speaker[]): Speaker[] {
  return speakers.toSorted((a, b) => b.duration_ms - a.duration_ms);
}

/** A speaker's share of talk time, in whole percent. */
export function talkShare(speaker: Speaker, speakers: readonly Speaker[]): number {
  const all = speakers.reduce((sum, { duration_ms }) => sum + duration_ms, 0);
  return all === 0 ? 0 : Math.round((speaker.duration_ms / all) * 100);
}

/**
 * The SVG path of a speaker's segments, `columns` wide and 1 high. However many segments there are, the path has at most one
 * piece per two columns.
 */
export function timelinePath(segments: readonly Segment[], durationMs: number, columns: number): string {
  const isFilled = new Uint8Array(columns);
  for (const { start, end } of segments) {
    const from = Math.min(columns - 1, Math.floor((start / durationMs) * columns));
    const to = Math.min(columns, Math.max(from + 1, Math.ceil((end / durationMs) * columns)));
    isFilled.fill(1, from, to);
  }
  let path = "";
  for (let from = 0; from < columns; from++) {
    if (isFilled[from] === 0) continue;
    let to = from;
    while (to < columns && isFilled[to] === 1) to++;
    path += `M${from} 0H${to}V1H${from}Z`;
    from = to;
  }
  return path;
}
