import assert from "node:assert/strict";
import { test } from "node:test";
import { mergeOrder } from "./merge-order.ts";

test("order: what the editor names, with what the editor can't see at its place as far as the list reaches", () => {
  // A lower-case letter is visible, an upper-case one is not.
  for (const [current, wanted, expected] of [
    ["", "ab", "ab"],
    ["ab", "ba", "ba"],
    ["ab", "", ""],
    ["aXb", "ba", "bXa"],
    ["aXb", "", "X"],
    ["aXbY", "b", "bXY"],
    ["XaY", "abc", "XaYbc"],
    ["XY", "ab", "XYab"],
  ] as const) {
    const rows = [...current].map((id) => ({ highlight_id: id, is_visible: id === id.toLowerCase() }));
    assert.equal(mergeOrder([...wanted], rows).join(""), expected, `${current} -> ${wanted}`);
  }
});
