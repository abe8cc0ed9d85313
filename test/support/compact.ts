import assert from "node:assert/strict";

/** Checks that a JSON text has no blanks or line breaks between its parts. */
export function assertCompact(text: string): void {
  const parts = text.replace(/"(?:[^"\\]|\\.)*"/g, "0");
  const at = parts.search(/\s/);
  assert.equal(at, -1, `the JSON is not compact: ${parts.slice(Math.max(0, at - 40), at + 40)}`);
}
