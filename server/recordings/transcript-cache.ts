import { LRUCache } from "lru-cache";
import type pg from "pg";
import type { TranscriptFormat } from "../../contract/transcripts.ts";
import { findTranscript } from "./queries.ts";
import { formatTranscript } from "./transcript-format.ts";

/** Room for some forty transcripts of four hours. */
const maxBytes = 32 * 1024 * 1024;

/** Rendered transcripts, kept as bytes. */
export interface TranscriptCache {
  /** @param version the recording's transcript_version as just read, which decides whether a kept one is still true. */
  read(recordingId: string, format: TranscriptFormat | "json", version: number): Promise<Buffer>;
}

/**
 * Keeps rendered transcripts in memory. Each read has asked the database for visibility and version right before,
 * so nothing is shown that was changed or taken away in the meantime, by whichever process.
 */
export function createTranscriptCache(pool: pg.Pool): TranscriptCache {
  const kept = new LRUCache<string, { version: number; bytes: Buffer }>({
    maxSize: maxBytes,
    sizeCalculation: (entry) => entry.bytes.length + 200,
  });
  return {
    async read(recordingId, format, version) {
      const key = `${recordingId}.${format}`;
      const found = kept.get(key);
      if (found?.version === version) return found.bytes;
      const segments = await findTranscript(pool, recordingId);
      const bytes = Buffer.from(
        format === "json" ? JSON.stringify(segments) : formatTranscript(format, segments),
      );
      kept.set(key, { version, bytes });
      return bytes;
    },
  };
}
