import { createHash } from "node:crypto";
import type pg from "pg";
import { createRenderedCache } from "../../../recordings/recordings/transcript/cache.ts";
import { formatTranscript } from "../../../recordings/recordings/transcript/format.ts";
import { jsonOf, toBytes } from "../../../recordings/recordings/transcript/text-slices.ts";
import type { Item } from "./items.ts";
import { findExcerpt } from "./transcript-excerpt.ts";

type Format = "vtt" | "json";

/** The words of the items of links. */
export interface SharedWords {
  /** Identifies the bytes that `read` returns, without reading anything. Without quotes. */
  etagOf(item: Item, format: Format): string;
  read(item: Item, format: Format): Promise<Buffer>;
}

/** Renders the words of each item once for each version of its transcript, for as long as they are in the cache. */
export function createPublicLinkWords(pool: pg.Pool): SharedWords {
  const rendered = createRenderedCache();
  const nameOf = ({ recordingId, range }: Item, format: Format): string =>
    [recordingId, format, ...(range === null ? [] : [range.start, range.end])].join(".");
  return {
    // A hash, because the id of a recording whose highlight is shown is not public.
    etagOf: (item, format) =>
      createHash("sha256")
        .update(`${nameOf(item, format)}.${item.transcriptVersion}`)
        .digest("hex")
        .slice(0, 32),
    read: (item, format) =>
      rendered.read(nameOf(item, format), item.transcriptVersion, async () => {
        const segments = await findExcerpt(pool, item);
        if (format === "vtt") return formatTranscript("vtt", segments);
        const entries = segments.map(({ speaker, start, end, text }) => ({ speaker, start, end, text }));
        return toBytes(['{"entries":', ...jsonOf(entries), "}"]);
      }),
  };
}
