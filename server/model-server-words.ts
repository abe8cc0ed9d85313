/** Beside every 5xx: what may pass by itself. */
const passing = new Set([408, 409, 425, 429]);

/** Whether a server that answers so may answer well later. */
export function mayPass(status: number): boolean {
  return status >= 500 || passing.has(status);
}

/** Words of the server that go into our message are cut to this. */
const maxSaid = 300;

/** The reason in the forms that servers give: OpenAI's, FastAPI's, plain text; on one line, cut, without the key. */
export function wordsOfServer(body: string, apiKey: string | null): string {
  const words = findWords(body)
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, " ")
    .trim();
  const safe = apiKey === null ? words : words.replaceAll(apiKey, "[key]");
  return safe
    .slice(0, maxSaid)
    .toWellFormed()
    .replace(/[.\s]+$/, "");
}

function findWords(body: string): string {
  try {
    return wordsOf(JSON.parse(body));
  } catch {
    // No JSON: pages of proxies tell nothing, a short line may.
    return body.length <= maxSaid && !body.includes("<") ? body : "";
  }
}

function wordsOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return wordsOf(value[0]);
  if (typeof value !== "object" || value === null) return "";
  const record = value as Record<string, unknown>;
  return wordsOf(record.error ?? record.message ?? record.detail ?? record.msg);
}

/** How long a server asks to wait, in milliseconds; null when it does not say. Source: RFC 9110, 10.2.3: seconds or a date. */
export function readRetryAfter(header: string | undefined): number | null {
  if (header === undefined) return null;
  if (/^\d+(\.\d+)?$/.test(header.trim())) return Math.round(Number(header) * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
}
