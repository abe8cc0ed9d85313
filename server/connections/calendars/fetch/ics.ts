import { calendarLimits } from "../../../../contract/calendars/calendars.ts";
import { readBytes } from "../../../platform/outbound/guarded-client.ts";
import { type CalendarSource, type Fetched, type FetchOptions, refusalOf } from "./source.ts";

/** Reads the file at a secret URL. @returns null when it has not changed. @throws CalendarError, OutboundError */
export async function fetchIcs(
  source: CalendarSource,
  { client, signal, etag }: FetchOptions,
): Promise<Fetched | null> {
  const response = await client.request({
    url: source.url,
    signal,
    headers: {
      "user-agent": "Parley-Calendar/1",
      accept: "text/calendar, */*;q=0.5",
      ...(etag === null ? {} : { "if-none-match": etag }),
    },
  });
  const { status, headers, body } = response;
  if (status !== 200) {
    body.destroy();
    if (status === 304 && etag !== null) return null;
    throw refusalOf(status, headers, source);
  }
  const bytes = await readBytes(response, calendarLimits.bytes);
  return { bytes, etag: typeof headers.etag === "string" ? headers.etag.slice(0, 1000) : null, name: null };
}
