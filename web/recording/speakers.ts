import type { Segment, Speaker } from "../api/recording.ts";

/** What tells speakers apart: the participant, or the name of one who is none. */
export function speakerKey(speaker: {
  readonly participant_id: string | null;
  readonly name: string;
}): string {
  return speaker.participant_id ?? `name:${speaker.name}`;
}

export function segmentSpeakerKey({ participant_id, speaker }: Segment): string {
  return speakerKey({ participant_id, name: speaker });
}

/** How the API is told who is meant. */
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

/** A colour for each speaker: whoever talks most gets the first. */
export function colorsOf(speakers: readonly Speaker[]): ReadonlyMap<string, SpeakerColor> {
  const sorted = byTalk(speakers);
  return new Map(sorted.map((speaker, i) => [speakerKey(speaker), colors[i % colors.length] ?? "indigo"]));
}

/** Speakers, the one who talks most first. */
export function byTalk(speakers: readonly Speaker[]): Speaker[] {
  return speakers.toSorted((a, b) => b.duration_ms - a.duration_ms);
}

/** What part of all talk is a speaker's, in whole per cent. */
export function talkShare(speaker: Speaker, speakers: readonly Speaker[]): number {
  const all = speakers.reduce((sum, { duration_ms }) => sum + duration_ms, 0);
  return all === 0 ? 0 : Math.round((speaker.duration_ms / all) * 100);
}

/**
 * Where somebody speaks, as the path of a picture that is `columns` wide and one high. However many segments there are,
 * the path has at most one piece for two columns.
 */
export function lanePath(segments: readonly Segment[], durationMs: number, columns: number): string {
  const isTaken = new Uint8Array(columns);
  for (const { start, end } of segments) {
    const from = Math.min(columns - 1, Math.floor((start / durationMs) * columns));
    const to = Math.min(columns, Math.max(from + 1, Math.ceil((end / durationMs) * columns)));
    isTaken.fill(1, from, to);
  }
  let path = "";
  for (let from = 0; from < columns; from++) {
    if (isTaken[from] === 0) continue;
    let to = from;
    while (to < columns && isTaken[to] === 1) to++;
    path += `M${from} 0H${to}V1H${from}Z`;
    from = to;
  }
  return path;
}
