import { createHmac, timingSafeEqual } from "node:crypto";
import { findJsonExcess, foreignJson, type JsonLimits } from "../../../platform/json-limits.ts";

/** A signature is valid for this long, and may be this far in the future. */
const maxAgeMs = 5 * 60_000;

/** More is not signed by any service; `write` calls itself for each level. */
const limits: JsonLimits = { ...foreignJson, maxDepth: 32 };

/** Compares without telling by its duration where two texts differ. */
export function isSame(given: string | string[] | undefined, expected: string): boolean {
  if (typeof given !== "string") return false;
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** HMAC-SHA256 of several parts, one behind the other. */
export function hmac(secret: string | Buffer, ...parts: readonly (string | Buffer)[]): Buffer {
  const sum = createHmac("sha256", secret);
  for (const part of parts) sum.update(part);
  return sum.digest();
}

/** Whether a header with seconds since 1970 is about now. */
export function isRecent(seconds: string | string[] | undefined, now: Date): seconds is string {
  if (typeof seconds !== "string" || !/^\d{1,11}$/.test(seconds)) return false;
  return Math.abs(now.getTime() - Number(seconds) * 1000) <= maxAgeMs;
}

/** Parses JSON. @returns null when it is none, nested too deeply, or has too many keys. */
export function parseJson(body: Buffer): unknown {
  try {
    return findJsonExcess(body, limits) !== null ? null : JSON.parse(body.toString("utf8"));
  } catch {
    return null;
  }
}

/** JSON with sorted keys and without blanks, numbers as they were sent; null: the body is no JSON. */
export function canonicalJson(body: Buffer): string | null {
  if (findJsonExcess(body, limits) !== null) return null;
  try {
    const keepSource = (_key: string, value: unknown, context?: { source?: string }): unknown =>
      typeof value === "number" && context?.source !== undefined ? new Literal(context.source) : value;
    return write(JSON.parse(body.toString("utf8"), keepSource));
  } catch {
    return null;
  }
}

/** A number as it was sent: 1.0 is not 1 in what Python signs. */
class Literal {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

/** Recursion is safe: the depth was checked. */
function write(value: unknown): string {
  if (value instanceof Literal) return value.source;
  if (Array.isArray(value)) return `[${value.map(write).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(
    ([key, part]) => [Buffer.from(key), `${JSON.stringify(key)}:${write(part)}`] as const,
  );
  // By code points, as UTF-8 sorts.
  entries.sort(([a], [b]) => a.compare(b));
  return `{${entries.map(([, text]) => text).join(",")}}`;
}
