import assert from "node:assert/strict";
import { test } from "node:test";
import { listOmitted } from "./counted.ts";

test("what an import left out is listed with its count, one in the singular", () => {
  const codes = ["recorders_without_user", "tags", "transcript_entries", "meeting_type", "unread_lines"];
  const list = (count: number) => listOmitted(Object.fromEntries(codes.map((code) => [code, count])));
  assert.equal(list(1), "1 recorder without user, 1 tag, 1 transcript entry, 1 meeting type, 1 unread line");
  assert.equal(
    list(2),
    "2 recorders without user, 2 tags, 2 transcript entries, 2 meeting types, 2 unread lines",
  );
  assert.equal(listOmitted({}), "");
});
