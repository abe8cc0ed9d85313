import { useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import type { Segment } from "../../api/recording.ts";
import { findHits, fold, type Hit } from "./find.ts";

export interface Finding {
  readonly query: string;
  readonly setQuery: (query: string) => void;
  readonly hits: readonly Hit[];
  /** Which of the hits is shown; 0 for the first. */
  readonly place: number;
  readonly current: Hit | null;
  readonly bySegment: ReadonlyMap<number, readonly Hit[]>;
  readonly step: (direction: 1 | -1) => void;
}

/**
 * Looks for words in all of the transcript, also in what is not on the screen.
 * @param firstShown the segment to begin at: what is above it comes round again at the end.
 * @param show brings a segment to the screen.
 */
export function useFind(
  segments: readonly Segment[],
  firstShown: () => number,
  show: (index: number) => void,
): Finding {
  const [query, setQuery] = useState("");
  const [place, setPlace] = useState(0);
  const asked = useDeferredValue(query);
  const isAsked = asked.trim() !== "";
  const folded = useMemo(() => (isAsked ? segments.map(({ text }) => fold(text)) : []), [segments, isAsked]);
  const hits = useMemo(() => findHits(folded, asked), [folded, asked]);
  const bySegment = useMemo(() => Map.groupBy(hits, ({ index }) => index), [hits]);
  const callbacks = useRef({ firstShown, show });
  callbacks.current = { firstShown, show };
  // A new question begins at what is on the screen; a corrected text keeps the place.
  const before = useRef("");
  const shownHit = useRef<Hit | null>(null);
  useEffect(() => {
    if (before.current === asked) return;
    before.current = asked;
    // Letters that are added to a question leave the reader where they are, as far as that still fits.
    const first = shownHit.current ?? { index: callbacks.current.firstShown(), from: 0 };
    const start = Math.max(
      0,
      hits.findIndex(
        ({ index, from }) => index > first.index || (index === first.index && from >= first.from),
      ),
    );
    setPlace(start);
    const hit = hits[start];
    if (hit !== undefined) callbacks.current.show(hit.index);
  }, [asked, hits]);
  const shown = Math.min(place, Math.max(0, hits.length - 1));
  useEffect(() => {
    shownHit.current = hits[shown] ?? null;
  }, [hits, shown]);
  return {
    query,
    setQuery,
    hits,
    place: shown,
    current: hits[shown] ?? null,
    bySegment,
    step: (direction) => {
      if (hits.length === 0) return;
      const next = (shown + direction + hits.length) % hits.length;
      setPlace(next);
      shownHit.current = hits[next] ?? null;
      show(hits[next]?.index ?? 0);
    },
  };
}
