import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openLocalStore } from "../../platform/storage/local/local.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";
import { combineStores } from "../../platform/storage/two-stores.ts";
import { copyFile } from "./copy-files.ts";

test("a file that is deleted while it is copied stays deleted", async () => {
  const folder = await mkdtemp(join(tmpdir(), "parley-copy-files-"));
  const [source, target] = [await openLocalStore(folder, "source"), await openLocalStore(folder, "target")];
  const both = combineStores(target, source);
  const key = "recordings/a/media";
  await source.put(key, Buffer.from("harbour"));
  const deleting: ObjectStore = {
    ...source,
    async get(...args) {
      const opened = await source.get(...args);
      await both.delete(key);
      return opened;
    },
  };
  assert.equal(await copyFile(deleting, target, key, null), null);
  assert.equal(await both.head(key), null);
  await rm(folder, { recursive: true });
});
