import { invalidValue } from "../scim-error.ts";

/** An object of JSON. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What an object has under a name, ignoring case. Source: RFC 7643, section 2.1. */
export function get(object: JsonObject, name: string): unknown {
  if (Object.hasOwn(object, name)) return object[name];
  const wanted = name.toLowerCase();
  return Object.entries(object).find(([key]) => key.toLowerCase() === wanted)?.[1];
}

/** A text; null for null and blank ones, which providers send to empty an attribute. @throws ScimError `invalidValue`. */
export function readText(given: unknown, name: string, maxLength: number): string | null {
  const value = unwrap(given);
  if (value === null || value === undefined) return null;
  if (typeof value !== "string") throw invalidValue(`${name} must be a text`);
  if (value.includes("\0") || !value.isWellFormed())
    throw invalidValue(`${name} contains a NUL character or half of a surrogate pair`);
  const text = value.trim();
  if (text.length > maxLength) throw invalidValue(`${name} must have at most ${maxLength} characters`);
  return text === "" ? null : text;
}

/** A boolean, also as text such as "False", which Entra sends. @throws ScimError `invalidValue`. */
export function readBoolean(given: unknown, name: string): boolean {
  const value = unwrap(given);
  if (typeof value === "boolean") return value;
  const text = typeof value === "string" ? value.toLowerCase() : "";
  if (text !== "true" && text !== "false") throw invalidValue(`${name} must be true or false`);
  return text === "true";
}

/** Some clients send a single value as a list with one entry, as if the attribute had many. */
function unwrap(given: unknown): unknown {
  if (!Array.isArray(given) || given.length !== 1) return given;
  const [only] = given;
  return isObject(only) ? get(only, "value") : only;
}
