import { clock } from "../../recordings/recordings/transcript/format.ts";

/** `0:12:30`, as chats show it. */
export function timeOf(ms: number): string {
  return clock(ms, ".")
    .slice(0, 8)
    .replace(/^00:/, "")
    .replace(/^0(\d)/, "$1");
}

/** The page of a recording at a moment. @param url of the page. */
export function momentUrl(url: string, ms: number): string {
  return `${url}?t=${Math.round(ms) / 1000}`;
}
