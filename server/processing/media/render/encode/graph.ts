import { AVERROR_EAGAIN, AVERROR_EOF } from "node-av/constants";
import { Filter, type FilterContext, FilterGraph, type Frame } from "node-av/lib";
import { check, newFrame } from "../libav.ts";

/** A filter with its options. */
export type Step = readonly [name: string, options: string];

/** A chain of libav filters. */
export interface Graph {
  /** Feeds a frame (null: the end) and passes on the filtered frames, in the time base of the source. */
  run(frame: Frame | null, use: (out: Frame) => void): void;
  close(): void;
}

/** Links source, steps and sink in order. */
export function openGraph(steps: readonly [source: Step, ...Step[]]): Graph {
  const graph = new FilterGraph();
  graph.alloc();
  // Scaling takes a third of the time of encoding.
  graph.nbThreads = 2;
  const contexts = steps.map(([name, options], i): FilterContext => {
    const filter = Filter.getByName(name);
    const context = filter === null ? null : graph.createFilter(filter, `step${i}`, options);
    if (context === null) throw new Error(`filter ${name} ${options}`);
    return context;
  });
  for (let i = 1; i < contexts.length; i++) {
    check((contexts[i - 1] as FilterContext).link(0, contexts[i] as FilterContext, 0), "link filters");
  }
  check(graph.configSync(), "configure filters");
  const source = contexts[0] as FilterContext;
  const sink = contexts.at(-1) as FilterContext;
  const out = newFrame();
  return {
    run: (frame, use) => {
      const added = source.buffersrcAddFrameSync(frame);
      // A filter that has all it needs accepts no more.
      if (added !== AVERROR_EOF) check(added, "filter a frame");
      for (;;) {
        const code = sink.buffersinkGetFrameSync(out);
        if (code === AVERROR_EAGAIN || code === AVERROR_EOF) return;
        check(code, "filter a frame");
        use(out);
        out.unref();
      }
    },
    close: () => {
      out.free();
      graph.free();
    },
  };
}
