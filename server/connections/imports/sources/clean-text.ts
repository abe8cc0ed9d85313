import { createHash } from "node:crypto";

/** A key of the database may not be longer. */
const maxIdLength = 500;

/** Text that PostgreSQL stores: without NULs and unpaired surrogates. */
export function cleanText(text: string): string {
  return text.replaceAll("\0", "\ufffd").toWellFormed();
}

/** An id of a source as a key, however long it is and whatever it consists of. */
export function cleanId(id: string): string {
  if (id.length <= maxIdLength) return cleanText(id);
  // Copied: a part of a text would keep all of it in memory.
  const start = Buffer.from(cleanText(id.slice(0, 100))).toString();
  return `${start}…${createHash("sha256").update(id).digest("hex")}`;
}

/** The same JSON value with every string cleaned. */
export function cleanStrings<T>(value: T): T {
  return cleaned(value) as T;
}

function cleaned(value: unknown): unknown {
  if (typeof value === "string") return cleanText(value);
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [cleanText(key), cleaned(part)]));
}
