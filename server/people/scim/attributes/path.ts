import type { Filter } from "scim2-parse-filter";
import { parseFilter } from "../query/filter.ts";
import { ScimError } from "../scim-error.ts";

/** Characters; longer than any path with a filter for twenty ids. */
const maxLength = 1200;

/** The path of an operation: an attribute, a filter for some of its values, and a part of them. */
export interface AttributePath {
  /** In lower case, without the URN of a core schema; of an extension with its URN. */
  readonly attribute: string;
  readonly filter: Filter | null;
  /** In lower case. */
  readonly part: string | null;
  /** The attribute as it was sent, without its parts. */
  readonly sent: string;
}

/** Source: RFC 7644, section 3.5.2, Figure 7. @throws ScimError `invalidPath`, `invalidFilter`. */
export async function readPath(text: string): Promise<AttributePath> {
  if (text.length > maxLength) throw invalidPath(`has more than ${maxLength} characters`);
  const open = text.indexOf("[");
  if (open === -1) return { ...splitName(text), filter: null };
  const close = text.lastIndexOf("]");
  const rest = text.slice(close + 1);
  if (close < open || !/^(?:\.[A-Za-z$][\w$-]*)?$/.test(rest)) throw invalidPath("can't be read");
  const name = splitName(text.slice(0, open));
  if (name.part !== null) throw invalidPath("has a filter after a part of an attribute");
  const filter = await parseFilter(text.slice(open + 1, close));
  return { ...name, filter, part: rest === "" ? null : rest.slice(1).toLowerCase() };
}

/** Whether a key of an object names an attribute, or a part of one. */
export function isPath(key: string): boolean {
  return key.length <= maxLength && key.split(".").length <= 2 && key.split(".").every(isName);
}

/** The attribute and its part that a name or key stands for, such as `name.familyName`. @throws ScimError `invalidPath`. */
export function splitName(text: string): Omit<AttributePath, "filter"> {
  // The name of an attribute has no colon; the versions in URNs have dots.
  const start = text.lastIndexOf(":") + 1;
  const [attribute = "", part, ...others] = text.slice(start).split(".");
  if (!isName(attribute) || (part !== undefined && !isName(part)) || others.length > 0)
    throw invalidPath("can't be read; it must be an attribute such as name.familyName");
  const urn = text.slice(0, start);
  const isCore = /^(?:urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):)?$/i.test(urn);
  return {
    attribute: (isCore ? attribute : urn + attribute).toLowerCase(),
    part: part?.toLowerCase() ?? null,
    sent: isCore ? attribute : urn + attribute,
  };
}

function isName(text: string): boolean {
  return /^[A-Za-z$][\w$-]*$/.test(text);
}

function invalidPath(detail: string): ScimError {
  return new ScimError(400, `the path ${detail}`, "invalidPath");
}
