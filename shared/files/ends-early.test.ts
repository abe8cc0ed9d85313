import assert from "node:assert/strict";
import { test } from "node:test";
import { endsEarlyText } from "./ends-early.ts";

test("the text says how much of a file that was cut off was kept", () => {
  assert.equal(endsEarlyText(660_000, 840_000), "The file ends early: 11 of about 14 minutes were kept.");
  assert.equal(endsEarlyText(48_000, 60_000), "The file ends early: 48 of about 60 seconds were kept.");
  assert.match(endsEarlyText(660_000, null), /^The file ends early: 11 minutes were kept\./);
});
