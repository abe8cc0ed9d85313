/** Raw JSON text, for bodies that no JavaScript value can express. */
export class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type Json =
  | string
  | number
  | boolean
  | null
  | Raw
  | readonly Json[]
  | { readonly [name: string]: Json };
export type Path = readonly (string | number)[];

/** Serializes JSON with its raw parts. */
export function write(value: Json): string {
  if (value instanceof Raw) return value.text;
  if (Array.isArray(value)) return `[${value.map(write).join(",")}]`;
  if (isObject(value))
    return `{${Object.entries(value)
      .map(([name, member]) => `${JSON.stringify(name)}:${write(member)}`)
      .join(",")}}`;
  return JSON.stringify(value);
}

function isObject(value: Json): value is { readonly [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Raw);
}

/** The JSON name of a value's type. */
export function typeOf(value: Json): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** Paths of every value inside, including containers but not the root. */
export function pathsIn(value: Json, path: Path = []): Path[] {
  const members: [string | number, Json][] = Array.isArray(value)
    ? [...value.entries()]
    : isObject(value)
      ? Object.entries(value)
      : [];
  return members.flatMap(([key, member]) => [[...path, key], ...pathsIn(member, [...path, key])]);
}

export function valueAt(value: Json, path: Path): Json {
  let found: Json = value;
  for (const key of path) found = (found as Record<string | number, Json>)[key] as Json;
  return found;
}

/** A copy with another value at the path; `undefined` removes the property. */
export function replaceAt(value: Json, path: Path, replacement: Json | undefined): Json {
  const [key, ...rest] = path;
  if (key === undefined) return replacement ?? null;
  const changed = rest.length > 0 ? replaceAt(valueAt(value, [key]), rest, replacement) : replacement;
  if (Array.isArray(value))
    return value.flatMap((member, index) =>
      index !== key ? [member] : changed === undefined ? [] : [changed],
    );
  return Object.fromEntries(
    Object.entries(value as Record<string, Json>).flatMap(([name, member]): [string, Json][] =>
      name !== key ? [[name, member]] : changed === undefined ? [] : [[name, changed]],
    ),
  );
}

/** Arrays or objects nested this deep. */
export function nested(levels: number, form: "array" | "object"): Raw {
  return form === "array"
    ? new Raw("[".repeat(levels) + "]".repeat(levels))
    : new Raw(`${'{"a":'.repeat(levels)}0${"}".repeat(levels)}`);
}
