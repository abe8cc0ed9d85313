import assert from "node:assert/strict";
import { test } from "node:test";
import { clock } from "./transcript-text.ts";

test("moments are written as M:SS, or H:MM:SS from an hour on", () => {
  assert.deepEqual([0, 59_999, 60_000, 3_723_000].map(clock), ["0:00", "0:59", "1:00", "1:02:03"]);
});
