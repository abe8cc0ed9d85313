/** A moment as a picker of dates has it: `2026-03-01 14:05:00`, by the clock of this place. */
export function localText(date: Date): string {
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 19).replace("T", " ");
}

/** A picker's moment as the API takes it. */
export function toIso(local: string): string {
  return new Date(local.replace(" ", "T")).toISOString();
}

/** What somebody wrote as a moment: `1:05`, `1:02:09`, `65`. In milliseconds; null: nothing; undefined: no moment. */
export function readClock(text: string): number | null | undefined {
  if (text.trim() === "") return null;
  const parts = text.trim().split(":");
  if (parts.length > 3 || !parts.every((part) => /^\d{1,5}$/.test(part))) return undefined;
  return parts.reduce((sum, part) => sum * 60 + Number(part), 0) * 1000;
}

/** The piece of HTML that shows a link in a page of one's own. */
export function frameCode(embedUrl: string, title: string, hasWords: boolean): string {
  const url = new URL(embedUrl);
  url.searchParams.set("transcript", hasWords ? "1" : "0");
  const [width, height] = hasWords ? [960, 480] : [640, 360];
  return `<iframe src="${escapeAttribute(url.href)}" title="${escapeAttribute(title)}" width="${width}" height="${height}" style="border: 0; max-width: 100%" allow="autoplay; fullscreen; picture-in-picture; clipboard-write" loading="lazy"></iframe>`;
}

function escapeAttribute(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll('"', "&quot;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}
