/** What JSON from outside may consist of. */
export interface JsonLimits {
  /** Keys of one object, repeated ones included. */
  readonly maxKeys: number;
  /** Values in all: parsing millions of empty lists takes a hundred times their bytes in memory. */
  readonly maxValues: number;
  readonly maxDepth: number;
}

/** For responses of other services. */
export const foreignJson: JsonLimits = { maxKeys: 1000, maxValues: 2_000_000, maxDepth: 100 };

/** A limit that JSON exceeds. */
export type JsonExcess = keyof JsonLimits;

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Checks JSON before it is parsed, in one pass over its bytes that ends at the first excess: a million keys of an object
 * take a second to parse, and as long again each time the object is copied.
 * @returns null for JSON within the limits, and for what is no JSON, which the parser reports.
 */
export function findJsonExcess(
  bytes: Uint8Array,
  { maxKeys, maxValues, maxDepth }: JsonLimits,
): JsonExcess | null {
  /** Of each open object. */
  const keys = new Uint32Array(maxDepth + 1);
  let [depth, values] = [0, 0];
  for (let at = 0; at < bytes.length; at += 1) {
    switch (bytes[at]) {
      case quote:
        at = endOfString(bytes, at);
        break;
      case openList:
      case openObject:
        depth += 1;
        values += 1;
        if (depth > maxDepth) return "maxDepth";
        keys[depth] = 0;
        break;
      case closeList:
      case closeObject:
        depth = Math.max(0, depth - 1);
        break;
      case colon:
        keys[depth] = (keys[depth] ?? 0) + 1;
        if ((keys[depth] ?? 0) > maxKeys) return "maxKeys";
        break;
      case comma:
        values += 1;
        break;
    }
    if (values > maxValues) return "maxValues";
  }
  return null;
}

/** Parses JSON of another service. @throws SyntaxError also when it exceeds `foreignJson`. */
export function parseForeignJson(text: string): unknown {
  const excess = findJsonExcess(Buffer.from(text), foreignJson);
  if (excess !== null)
    throw new SyntaxError(`the JSON has more than ${foreignJson[excess]} ${names[excess]}`);
  return JSON.parse(text);
}

const names: Readonly<Record<JsonExcess, string>> = {
  maxKeys: "keys in one object",
  maxValues: "values",
  maxDepth: "levels",
};

/** The index of the quotation mark that ends a string; the end of the text if there is none. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}
