import type { Llama, LlamaGrammar } from "node-llama-cpp";

/** The schema of a response: always an object. */
interface ObjectSchema {
  readonly type: "object";
}

/** In the engine's grammar of numbers; none of ours has an exponent, and the largest are no numbers for JSON's readers. */
const exponent = '([eE] [-+]? ("0" | [1-9] [0-9]{0,15}))?';

/** A grammar by which the engine can write nothing but JSON that matches a schema. */
export async function createGrammar(
  llama: Llama,
  schema: Readonly<Record<string, unknown>>,
): Promise<LlamaGrammar> {
  const { grammar, stopGenerationTriggers, trimWhitespaceSuffix } = await llama.createGrammarForJsonSchema(
    toGrammarSchema(schema),
  );
  return llama.createGrammar({
    grammar: grammar.replaceAll(exponent, ""),
    stopGenerationTriggers,
    trimWhitespaceSuffix,
  });
}

/** The engine knows `oneOf` and not `anyOf`. */
function toGrammarSchema(schema: Readonly<Record<string, unknown>>): ObjectSchema {
  return { ...convert(schema), type: "object" };
}

function convert(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key === "anyOf" ? "oneOf" : key, convertAny(value)]),
  );
}

function convertAny(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(convertAny);
  return typeof schema === "object" && schema !== null ? convert({ ...schema }) : schema;
}
