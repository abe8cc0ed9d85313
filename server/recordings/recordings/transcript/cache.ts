import { LRUCache } from "lru-cache";
import type pg from "pg";
import type { TranscriptFormat } from "../../../../contract/transcripts/transcripts.ts";
import { findTranscript } from "../queries.ts";
import { formatTranscript } from "./format.ts";
import { jsonOf, toBytes } from "./text-slices.ts";

/** Enough for about forty transcripts of four hours. */
const maxBytes = 32 * 1024 * 1024;

/** Cache of bytes rendered from transcripts. */
export interface RenderedCache {
  /**
   * @param name of what is rendered, unique within the cache.
   * @param version the recording's current transcript_version; an entry of another version is not used.
   */
  read(name: string, version: number, render: () => Promise<Buffer>): Promise<Buffer>;
}

/** Cache of rendered transcripts, as bytes. */
export interface TranscriptCache {
  /** @param version the recording's current transcript_version; an entry of another version is not used. */
  read(recordingId: string, format: TranscriptFormat | "json", version: number): Promise<Buffer>;
}

/**
 * Caches what is rendered from transcripts in memory. Every request reads visibility and version from the database first,
 * so the cache never returns a transcript that another process changed, deleted or unshared.
 */
export function createRenderedCache(): RenderedCache {
  const kept = new LRUCache<string, { version: number; bytes: Buffer }>({
    maxSize: maxBytes,
    sizeCalculation: (entry) => entry.bytes.length + 200,
  });
  /** Requests for the same bytes share one rendering. */
  const rendering = new Map<string, Promise<Buffer>>();
  return {
    async read(key, version, render) {
      const found = kept.get(key);
      if (found?.version === version) return found.bytes;
      const name = `${key}.${version}`;
      const running = rendering.get(name) ?? render().finally(() => rendering.delete(name));
      rendering.set(name, running);
      const bytes = await running;
      kept.set(key, { version, bytes });
      return bytes;
    },
  };
}

/** Caches whole transcripts in the contract's formats. */
export function createTranscriptCache(pool: pg.Pool): TranscriptCache {
  const rendered = createRenderedCache();
  return {
    read: (recordingId, format, version) =>
      rendered.read(`${recordingId}.${format}`, version, () => render(recordingId, format)),
  };

  async function render(recordingId: string, format: TranscriptFormat | "json"): Promise<Buffer> {
    const segments = await findTranscript(pool, recordingId);
    return format === "json" ? toBytes(jsonOf(segments)) : formatTranscript(format, segments);
  }
}
