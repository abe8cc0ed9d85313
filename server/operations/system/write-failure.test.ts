import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { explainWriteFailure } from "./write-failure.ts";

const failed = (code: string, message = `${code}: open '/data/x'`): Error =>
  Object.assign(new Error(message), { code });

test("a failed write is explained by its cause: full, quota, read-only, or another user's folder", async () => {
  for (const [error, cause, remedy] of [
    [failed("ENOSPC"), /is full$/, /Free some space/],
    [failed("EDQUOT"), /^the quota of the user .* is used up$/, /Raise the quota/],
    [failed("EROFS"), /is mounted read-only$/, /Mount it writable/],
    [failed("EACCES"), /^EACCES/, /chown -R/],
    // As PostgreSQL words it, and as another error wraps it.
    [
      new Error('FATAL: could not write lock file "x": No space left on device'),
      /is full$/,
      /Free some space/,
    ],
    [new Error("the store failed", { cause: failed("ENOSPC") }), /is full$/, /Free some space/],
  ] as const) {
    const found = await explainWriteFailure(error, tmpdir());
    assert.match(found.cause, cause);
    assert.match(found.remedy, remedy);
    assert.equal(found.isRoom, /full|quota/.test(found.cause));
  }
});
