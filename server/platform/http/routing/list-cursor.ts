import type { Operation } from "../../../../contract/operation.ts";
import type { LinkSigner } from "../../crypto/link-signer.ts";
import { ProblemError } from "../errors/problem.ts";

/** Filter, include and other parameters of a list, without its cursor. */
export type ListParameters = Readonly<Record<string, unknown>>;

/** Bytes of parameters that a cursor carries; larger ones have to be sent again. */
const maxCarriedBytes = 4096;

const tagBytes = 16;

/**
 * The parameters of a call that continues a list: contract.md asks clients for the cursor alone, so it carries filter and
 * include of the call that returned it. Parameters that are given replace the carried ones of the same name.
 * @returns what was given if it has no cursor, or one without parameters.
 * @throws ProblemError `invalid_cursor` when the cursor was changed, is from another operation, or the call lacks parameters
 * that were too large for the cursor.
 */
export function resumeList(operation: Operation, signer: LinkSigner, given: unknown): unknown {
  if (!hasCursor(given)) return given;
  const [position = "", carried, tag, ...rest] = given.cursor.split(".");
  if (carried === undefined) return given;
  const sent = Buffer.from(tag ?? "", "base64url");
  const isSigned =
    sent.length === tagBytes && signer.isTag("cursor", signedText(operation, position, carried), sent);
  if (rest.length > 0 || !isSigned)
    throw new ProblemError(
      "invalid_cursor",
      "the cursor is not from this operation; send the cursor from the previous response unchanged, or leave it out",
    );
  const parameters = JSON.parse(Buffer.from(carried, "base64url").toString("utf8")) as ListParameters;
  const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== "";
  const replaced = Object.fromEntries(Object.entries(given).filter(([, value]) => isGiven(value)));
  const missing = Object.entries(parameters).find(([name, value]) => value === null && !(name in replaced));
  if (missing !== undefined)
    throw new ProblemError(
      "invalid_cursor",
      `${missing[0]} is too large for the cursor; send it with each page`,
    );
  return { ...parameters, ...replaced, cursor: position };
}

/** The cursor to return for a page that ended at `position`: alone if the call had no parameters. */
export function carryParameters(
  operation: Operation,
  signer: LinkSigner,
  position: string,
  { cursor: _, ...parameters }: ListParameters,
): string {
  const entries = Object.entries(parameters).filter(([, value]) => value !== undefined && !isEmpty(value));
  if (entries.length === 0) return position;
  let left = maxCarriedBytes;
  const kept = entries.map(([name, value]) => {
    left -= Buffer.byteLength(JSON.stringify(value));
    return [name, left < 0 ? null : value];
  });
  const carried = Buffer.from(JSON.stringify(Object.fromEntries(kept))).toString("base64url");
  const tag = signer.tag("cursor", signedText(operation, position, carried)).subarray(0, tagBytes);
  return `${position}.${carried}.${tag.toString("base64url")}`;
}

function signedText(operation: Operation, position: string, carried: string): string {
  return `${operation.id}\n${position}\n${carried}`;
}

/** An empty filter or include means the same as none. */
function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function hasCursor(given: unknown): given is { readonly cursor: string } {
  return typeof given === "object" && given !== null && "cursor" in given && typeof given.cursor === "string";
}
