import assert from "node:assert/strict";
import { test } from "node:test";
import { makeWorkspace } from "../../../test/support/factories.ts";
import { findUsedBytes } from "./quotas.ts";
import { startUploads } from "./test/uploads.ts";

const gibibyte = 1024 ** 3;
const { app, create } = await startUploads({
  worker: false,
  env: { PARLEY_STORAGE_PER_WORKSPACE: String(3 * gibibyte) },
});
const tus = { "tus-resumable": "1.0.0" };

test("files of unknown length reserve room step by step, so that several people can record at once", async () => {
  const { id, member } = await makeWorkspace(app.db);
  const used = () => findUsedBytes(app.db.kysely, id);
  const begin = async () => {
    const { body } = await create({ media_type: "video" }, member.token);
    const url = body.media.upload.tus_url.replace(/^http:\/\/parley\.test/, app.url) as string;
    const response = await fetch(url, { method: "POST", headers: { ...tus, "upload-defer-length": "1" } });
    return { id: body.id as string, url, status: response.status };
  };
  const started = [await begin(), await begin(), await begin()];
  assert.deepEqual(
    started.map(({ status }) => status),
    [201, 201, 201],
  );
  assert.equal(await used(), 3 * gibibyte);
  const [first, second] = started;
  assert.ok(first && second);

  // A sender who comes near the end of its room gets more, as far as there is some.
  await app.db.pool.query("update uploads set reserved_bytes = 1000 where id = any($1)", [
    [first.id, second.id],
  ]);
  const sent = await fetch(first.url, {
    method: "PATCH",
    headers: { ...tus, "upload-offset": "0", "content-type": "application/offset+octet-stream" },
    body: Buffer.alloc(5000),
  });
  assert.equal(sent.status, 204);
  assert.equal(await used(), 2 * gibibyte + 1000);

  // Without room, the reservation doesn't become smaller than what has arrived.
  await app.db.pool.query(
    "update uploads set reserved_bytes = case id when $1 then 5000 when $2 then $3::bigint else 0 end where id = any($4)",
    [first.id, second.id, 3 * gibibyte - 3000, started.map((upload) => upload.id)],
  );
  const before = await used();
  const refused = await fetch(first.url, {
    method: "PATCH",
    headers: { ...tus, "upload-offset": "5000", "content-type": "application/offset+octet-stream" },
    body: Buffer.alloc(10),
  });
  assert.equal(refused.status, 403);
  assert.equal(await used(), before);
});
