import { clock } from "../common/format/time.ts";

/** A date as date pickers take it: `2026-03-01 14:05:00`, in the browser's time zone. */
export function localText(date: Date): string {
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 19).replace("T", " ");
}

/** A date picker's value as the API takes it. */
export function toIso(local: string): string {
  return new Date(local.replace(" ", "T")).toISOString();
}

/** A position for editing: `1:05`, with decimals if any, so that saving it unchanged changes nothing. */
export function exactClock(ms: number): string {
  const rest = Math.round(ms) % 1000;
  return clock(ms) + (rest === 0 ? "" : String(rest / 1000).slice(1));
}

/** Parses a typed position: `1:05`, `1:02:09`, `65`, `1:05.25`. @returns milliseconds; null if empty, undefined if invalid. */
export function readClock(text: string): number | null | undefined {
  if (text.trim() === "") return null;
  const parts = text.trim().split(":");
  const [last = ""] = parts.slice(-1);
  if (parts.length > 3 || !/^\d{1,5}(?:[.,]\d{1,3})?$/.test(last)) return undefined;
  if (!parts.slice(0, -1).every((part) => /^\d{1,5}$/.test(part))) return undefined;
  return Math.round(parts.reduce((sum, part) => sum * 60 + Number(part.replace(",", ".")), 0) * 1000);
}

/** The iframe that embeds a link in another page. */
export function embedCode(embedUrl: string, title: string, hasTranscript: boolean): string {
  const url = new URL(embedUrl);
  url.searchParams.set("transcript", hasTranscript ? "1" : "0");
  const [width, height] = hasTranscript ? [960, 480] : [640, 360];
  return `<iframe src="${escapeAttribute(url.href)}" title="${escapeAttribute(title)}" width="${width}" height="${height}" style="border: 0; max-width: 100%" allow="autoplay; fullscreen; picture-in-picture; clipboard-write" loading="lazy"></iframe>`;
}

function escapeAttribute(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll('"', "&quot;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}
