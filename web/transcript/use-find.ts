import { useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import type { Segment } from "../api/recording/recording.ts";
import { findHits, findHitsOfAny, fold, type Hit } from "./find.ts";

const noQuery = { query: "", from: 0 } as const;

export interface Finding {
  readonly query: string;
  readonly setQuery: (query: string) => void;
  readonly hits: readonly Hit[];
  /** Index of the current hit. */
  readonly index: number;
  readonly current: Hit | null;
  readonly bySegment: ReadonlyMap<number, readonly Hit[]>;
  readonly step: (direction: 1 | -1) => void;
}

/**
 * Searches the whole transcript, including lines that are not rendered.
 * @param firstShown the segment to start at; matches above it come last.
 * @param show scrolls to a segment.
 * @param initial words to find at first, each of them if there is no match of all; from a segment on, or the beginning.
 */
export function useFind(
  segments: readonly Segment[],
  firstShown: () => number,
  show: (index: number) => void,
  initial: { readonly query: string; readonly from: number } = noQuery,
): Finding {
  const [query, setQuery] = useState(initial.query);
  const [index, setPlace] = useState(0);
  const deferredQuery = useDeferredValue(query);
  const isSearching = deferredQuery.trim() !== "";
  const folded = useMemo(
    () => (isSearching ? segments.map(({ text }) => fold(text)) : []),
    [segments, isSearching],
  );
  const isInitial = deferredQuery === initial.query;
  const hits = useMemo(
    () => (isInitial ? findHitsOfAny : findHits)(folded, deferredQuery),
    [folded, deferredQuery, isInitial],
  );
  const bySegment = useMemo(() => Map.groupBy(hits, ({ index }) => index), [hits]);
  const callbacks = useRef({ firstShown, show });
  callbacks.current = { firstShown: () => (isInitial ? initial.from : firstShown()), show };
  // A new query starts at the visible lines; an edited transcript keeps the current match.
  const before = useRef("");
  const shownHit = useRef<Hit | null>(null);
  useEffect(() => {
    if (before.current === deferredQuery) return;
    before.current = deferredQuery;
    // Extending the query keeps the current match if it still matches.
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
  }, [deferredQuery, hits]);
  const shown = Math.min(index, Math.max(0, hits.length - 1));
  useEffect(() => {
    shownHit.current = hits[shown] ?? null;
  }, [hits, shown]);
  return {
    query,
    setQuery,
    hits,
    index: shown,
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
