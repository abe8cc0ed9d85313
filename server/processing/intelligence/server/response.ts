import { z } from "zod";
import type { ModelRequest } from "../language-model.ts";

/** The parsed value, or what is wrong with the response, as a message for the model. */
export type ReadAnswer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly fault: string };

/**
 * Parses a model's response as JSON of a schema. Ignores code fences, reasoning before the JSON and text after it. Unknown
 * properties are dropped.
 */
export function readAnswer<T>(text: string, schema: z.ZodType<T>): ReadAnswer<T> {
  const json = findJson(text);
  if (json === undefined) return { ok: false, fault: "The response contains no JSON object." };
  const result = schema.safeParse(json);
  if (result.success) return { ok: true, value: result.data };
  const faults = result.error.issues
    .slice(0, 10)
    .map((issue) => `${issue.path.join(".") || "the object"}: ${issue.message}`);
  return { ok: false, fault: faults.join("; ") };
}

/** The JSON object in a text: the whole text, or the first complete object. @returns undefined when there is none. */
export function findJson(text: string): unknown {
  const said = withoutThoughts(text).trim();
  const whole = parseObject(said);
  if (whole !== undefined) return whole;
  let starts = 0;
  for (let at = said.indexOf("{"); at >= 0 && starts < maxStarts; at = said.indexOf("{", at + 1)) {
    starts += 1;
    const end = endOfObject(said, at);
    // The object was cut off, and a complete object inside it is not the response.
    if (end === null) return undefined;
    const found = parseObject(said.slice(at, end));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Removes the model's reasoning, which may hold drafts of its response. */
function withoutThoughts(text: string): string {
  const tags = [...text.matchAll(/<(\/?)(think|thinking|reasoning)>/gi)].map(
    ({ 0: tag, 1: slash, 2: name, index }) => ({
      isClosing: slash === "/",
      name: (name ?? "").toLowerCase(),
      start: index,
      end: index + tag.length,
    }),
  );
  const closing = Map.groupBy(tags.filter(({ isClosing }) => isClosing).reverse(), ({ name }) => name);
  const kept: string[] = [];
  let done = 0;
  for (const { isClosing, name, start } of tags) {
    if (isClosing || start < done) continue;
    const ends = closing.get(name) ?? [];
    while ((ends.at(-1)?.start ?? start) < start) ends.pop();
    const end = ends.at(-1);
    if (end === undefined) continue;
    kept.push(text.slice(done, start));
    done = end.end;
  }
  return kept.join("") + text.slice(done);
}

/** Most opening braces to try, which bounds the time; a text with more contains no JSON. */
const maxStarts = 20;

function parseObject(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The offset at which the object that starts at an offset ends, ignoring braces in strings; null if it does not end. */
function endOfObject(text: string, start: number): number | null {
  let depth = 0;
  let isString = false;
  for (let at = start; at < text.length; at += 1) {
    const char = text[at];
    if (isString) {
      if (char === "\\") at += 1;
      else if (char === '"') isString = false;
    } else if (char === '"') isString = true;
    else if (char === "{") depth += 1;
    else if (char === "}") {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return null;
}

/**
 * A schema in the form of servers' strict mode: draft 7, every property required, no additional ones.
 * Source: OpenAI, Structured Outputs, "Supported schemas".
 */
export function jsonSchemaOf(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { target: "draft-7" });
  return json;
}

/** Tells the model which form its response must have, where nothing else does. */
export function schemaPrompt({ schema }: Pick<ModelRequest, "schema">): string {
  return `Respond with one JSON object and nothing else. It must match this JSON schema:\n${JSON.stringify(schema.json)}`;
}
