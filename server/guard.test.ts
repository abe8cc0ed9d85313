import assert from "node:assert/strict";
import { test } from "node:test";
import * as library from "../contract/recordings/library.ts";
import { listRecordings } from "../contract/recordings/recording-operations.ts";
import { isWrite } from "./guard.ts";

test("what readers may change is noted for reads of a replica, as everything else that changes data", () => {
  for (const operation of [library.addFavorite, library.removeFavorite, library.changeRecordings])
    assert.equal(isWrite(operation), true, operation.id);
  for (const operation of [library.listLibrary, listRecordings])
    assert.equal(isWrite(operation), false, operation.id);
});
