import { createHash } from "node:crypto";
import { ProblemError } from "../../platform/http/errors/problem.ts";

/** A position in the order by score, start and id, all descending. */
export interface Place {
  readonly score: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly id: string;
}

/**
 * Where a page ended. Results are ranked in blocks (find.ts): a block starts after `from` and ends with `to`; the page
 * ended at `shown` within it.
 */
export interface SearchCursor {
  readonly from: Place | null;
  readonly to: Place | null;
  readonly shown: Place | null;
}

/** For the hits of one recording: the position of the last segment shown. */
export interface HitsCursor {
  readonly position: number;
}

/** Identifies query and filters, so that a cursor of another search is refused. */
export function nameQuestion(question: unknown): string {
  return createHash("sha256").update(JSON.stringify(question)).digest("base64url").slice(0, 12);
}

export function encodeSearchCursor(question: string, { from, to, shown }: SearchCursor): string {
  return encode(["search", question, ...[from, to, shown].flatMap(placeParts)]);
}

/** @throws ProblemError `invalid_cursor` when it belongs to another search. */
export function decodeSearchCursor(question: string, cursor: string): SearchCursor {
  const parts = decode("search", question, cursor);
  const [from, to, shown] = [0, 3, 6].map((at) => readPlace(parts.slice(at, at + 3)));
  const read = { from: from ?? null, to: to ?? null, shown: shown ?? null };
  if (encodeSearchCursor(question, read) !== cursor) throw broken();
  return read;
}

export function encodeHitsCursor(question: string, { position }: HitsCursor): string {
  return encode(["hits", question, String(position)]);
}

/** @throws ProblemError `invalid_cursor` when it belongs to another search. */
export function decodeHitsCursor(question: string, cursor: string): HitsCursor {
  const [text = ""] = decode("hits", question, cursor);
  const position = Number(text);
  if (!isCount(position) || encodeHitsCursor(question, { position }) !== cursor) throw broken();
  return { position };
}

function encode(parts: readonly string[]): string {
  return Buffer.from(parts.join(":")).toString("base64url");
}

function decode(kind: string, question: string, cursor: string): string[] {
  const [name, asked, ...rest] = Buffer.from(cursor, "base64url").toString("utf8").split(":");
  if (name !== kind || asked !== question) throw broken();
  return rest;
}

function placeParts(place: Place | null): string[] {
  return place === null ? ["", "", ""] : [String(place.score), String(place.at), place.id];
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

function readPlace([score = "", at = "", id = ""]: readonly string[]): Place | null {
  if (score === "" && at === "" && id === "") return null;
  const place = { score: Number(score), at: Number(at), id };
  // Within the dates that both JavaScript and PostgreSQL support.
  if (!isCount(place.score) || !/^-?\d{1,15}$/.test(at) || Math.abs(place.at) > 8e14 || !uuid.test(id))
    throw broken();
  if (place.at < Date.parse("0001-01-01T00:00:00Z") || place.at > Date.parse("9999-12-31T23:59:59.999Z"))
    throw broken();
  return place;
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= 2_147_483_647;
}

function broken(): ProblemError {
  return new ProblemError(
    "invalid_cursor",
    "the cursor is not from this search; send the cursor from the previous response unchanged, with the same query and filters, or leave it out",
  );
}
