import type { ThumbnailLinks } from "./links.ts";
import { type Bind, object, signedThumbnail } from "./sql.ts";

/** Path of highlight thumbnails, which are served by signed URLs. */
export const highlightMediaPath = "/_/media/highlights";

/** The values that a highlight's JSON needs besides its row. */
export interface HighlightContext {
  readonly bind: Bind;
  /** Base URL of the service. */
  readonly baseUrl: string;
  readonly thumbnails: ThumbnailLinks;
}

/** The SQL expression that turns a row `h` of highlights into the contract's Highlight, without the fields that an include adds. */
export function highlightJson(context: HighlightContext): string {
  return object(highlightFields(context));
}

/** The fields of the contract's Highlight, from a row `h` of highlights. */
export function highlightFields(context: HighlightContext): [name: string, sql: string][] {
  const baseUrl = `${context.bind(context.baseUrl)}::text`;
  return [
    ["id", "h.id"],
    ["recording_id", "h.recording_id"],
    ["text", "h.text"],
    ["timestamp", "h.start_ms"],
    ["duration", "h.duration_ms"],
    ["tags", "h.tags"],
    ["url", `${baseUrl} || '/highlights/' || h.id`],
    ["thumbnail_url", signedThumbnail(baseUrl, highlightMediaPath, "h.id", context)],
    ["created_datetime", "parley_timestamp(h.created_at)"],
  ];
}
