import { ScimError } from "../scim-error.ts";
import { type AttributePath, readPath } from "./path.ts";
import { get, isObject } from "./values.ts";

/** More than providers send in one request. */
const maxOperations = 1000;

/** One change of a patch. Without a path its value is an object of attributes. */
export interface PatchOperation {
  readonly op: "add" | "remove" | "replace";
  readonly path: AttributePath | null;
  readonly value: unknown;
}

/**
 * Reads the operations of a patch. Entra writes their names with capitals.
 * Source: RFC 7644, section 3.5.2.
 * @throws ScimError `invalidSyntax`, `invalidPath`, `invalidFilter`, `noTarget`.
 */
export async function readPatch(body: unknown): Promise<PatchOperation[]> {
  const given = isObject(body) ? get(body, "Operations") : undefined;
  if (!Array.isArray(given) || given.length === 0)
    throw invalidSyntax("Operations must be a list of changes");
  if (given.length > maxOperations)
    throw invalidSyntax(`Operations must have at most ${maxOperations} entries`);
  const operations: PatchOperation[] = [];
  for (const entry of given) operations.push(await readOperation(entry));
  return operations;
}

async function readOperation(entry: unknown): Promise<PatchOperation> {
  if (!isObject(entry)) throw invalidSyntax("each of the Operations must be an object");
  const name = get(entry, "op");
  const op = typeof name === "string" ? name.toLowerCase() : "";
  if (op !== "add" && op !== "remove" && op !== "replace")
    throw invalidSyntax("op must be add, remove or replace");
  const path = get(entry, "path");
  const value = get(entry, "value");
  if (path !== undefined && path !== null && typeof path !== "string")
    throw new ScimError(400, "the path must be a text", "invalidPath");
  if (path !== undefined && path !== null && path !== "") return { op, path: await readPath(path), value };
  if (op === "remove") throw new ScimError(400, "remove needs a path", "noTarget");
  if (!isObject(value))
    throw invalidSyntax(`${op} without a path needs an object of attributes as its value`);
  return { op, path: null, value };
}

function invalidSyntax(detail: string): ScimError {
  return new ScimError(400, detail, "invalidSyntax");
}
