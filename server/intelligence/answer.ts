import { z } from "zod";

/** What an answer turned out to be: what was asked for, or what is wrong with it, in words for the model. */
export type ReadAnswer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly fault: string };

/**
 * Reads what a model said as JSON of a schema. Models put it into fences, think aloud before, or say more after; none
 * of that matters. What the schema does not know is left out.
 */
export function readAnswer<T>(text: string, schema: z.ZodType<T>): ReadAnswer<T> {
  const json = findJson(text);
  if (json === undefined) return { ok: false, fault: "The answer held no JSON object." };
  const result = schema.safeParse(json);
  if (result.success) return { ok: true, value: result.data };
  const faults = result.error.issues
    .slice(0, 10)
    .map((issue) => `${issue.path.join(".") || "the object"}: ${issue.message}`);
  return { ok: false, fault: faults.join("; ") };
}

/** The JSON object in a text: the whole of it, else the first that is whole. @returns undefined when there is none. */
export function findJson(text: string): unknown {
  // Thoughts may hold drafts of the answer.
  const said = text.replace(/<(think|thinking|reasoning)>[\s\S]*?<\/\1>/gi, "").trim();
  const whole = parseObject(said);
  if (whole !== undefined) return whole;
  let starts = 0;
  for (let at = said.indexOf("{"); at >= 0 && starts < mostStarts; at = said.indexOf("{", at + 1)) {
    starts += 1;
    const end = endOfObject(said, at);
    // Cut off: what is whole inside of it is not the answer.
    if (end === null) return undefined;
    const found = parseObject(said.slice(at, end));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A text with more opening braces that lead nowhere holds no answer; looking on would take time without end. */
const mostStarts = 20;

function parseObject(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Where the object that begins at a place ends; braces in strings don't count. Null: it does not. */
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
 * A schema as servers take it in strict mode: draft 7, every property required, no others.
 * Source: OpenAI, Structured Outputs, "Supported schemas".
 */
export function jsonSchemaOf(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { target: "draft-7" });
  return json;
}
