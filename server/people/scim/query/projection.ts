import { invalidValue } from "../scim-error.ts";

const maxNames = 100;

type Json = Readonly<Record<string, unknown>>;

/** Which attributes of resources a response has. Source: RFC 7644, section 3.9. */
export interface Projection {
  /** Names in lower case; null: all. */
  readonly wanted: ReadonlySet<string> | null;
  readonly excluded: ReadonlySet<string>;
}

/** Reads `attributes` and `excludedAttributes`: lists as text or, in a body, as arrays. */
export function readProjection(given: { attributes?: unknown; excludedAttributes?: unknown }): Projection {
  const wanted = namesIn(given.attributes, "attributes");
  return {
    wanted: wanted.length === 0 ? null : new Set(wanted),
    excluded: new Set(namesIn(given.excludedAttributes, "excludedAttributes")),
  };
}

function namesIn(given: unknown, parameter: string): string[] {
  if (given === undefined || given === null) return [];
  const parts = Array.isArray(given) ? given : [given];
  if (!parts.every((part) => typeof part === "string"))
    throw invalidValue(`${parameter} must be a list of attribute names`);
  const names = parts
    .flatMap((part) => part.split(","))
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "")
    .map((name) => name.replace(/^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/, ""));
  if (names.length > maxNames) throw invalidValue(`${parameter} has more than ${maxNames} names`);
  return names;
}

/** Whether a response has an attribute, or a part of it. */
export function includes({ wanted, excluded }: Projection, attribute: string): boolean {
  if (excluded.has(attribute)) return false;
  return (
    wanted === null || [...wanted].some((name) => name === attribute || name.startsWith(`${attribute}.`))
  );
}

/** The resource with the attributes of the projection; `schemas` and `id` are always returned. */
export function project(resource: Json, projection: Projection): Json {
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(resource)) {
    const name = key.toLowerCase();
    if (name === "schemas" || name === "id") result[key] = value;
    else if (includes(projection, name)) result[key] = projectParts(name, value, projection);
  }
  return result;
}

function projectParts(name: string, value: unknown, projection: Projection): unknown {
  if (Array.isArray(value)) return value.map((entry) => projectParts(name, entry, projection));
  if (typeof value !== "object" || value === null) return value;
  const { wanted, excluded } = projection;
  const isWhole = wanted === null || wanted.has(name);
  return Object.fromEntries(
    Object.entries(value).filter(([key]) => {
      const part = `${name}.${key.toLowerCase()}`;
      return !excluded.has(part) && (isWhole || wanted.has(part));
    }),
  );
}
