import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { until } from "../../../../test/support/until.ts";
import { uploadFileKey } from "../../../platform/storage/layout.ts";
import { startUploads, sweepLog } from "../test/uploads.ts";
import { failExpiredUploads } from "./arrival.ts";

const { app, create } = await startUploads({ worker: false });
const { log } = sweepLog();
const bytes = Buffer.alloc(300_000, "parley");

function query(text: string, ...values: unknown[]) {
  return app.db.pool.query(text, values);
}

async function row(id: string) {
  return (await query("select * from uploads where id = $1", id)).rows[0];
}

/** A PUT that has sent half its body; `end` sends the rest and returns the response. */
async function beginPut() {
  const { id, media } = (await create({ media_type: "video" })).body;
  const url = media.upload.url.replace(/^http:\/\/parley\.test/, app.url);
  const request = httpRequest(url, {
    method: "PUT",
    headers: { ...media.upload.headers, "content-length": String(bytes.length) },
  });
  const answer = new Promise<[number | undefined, string | undefined]>((resolve, reject) => {
    request.on("error", reject);
    request.on("response", async (response) => {
      const body = Buffer.concat(await response.toArray()).toString();
      resolve([response.statusCode, (JSON.parse(body) as { error?: string }).error]);
    });
  });
  request.write(bytes.subarray(0, 150_000));
  await until("the PUT is being served", async () => (await row(id)).put_active_at !== null);
  return {
    id: id as string,
    end(): typeof answer {
      request.end(bytes.subarray(150_000));
      return answer;
    },
  };
}

async function assertNothingKept(id: string): Promise<void> {
  assert.equal(await app.store.head(uploadFileKey(id)), null);
}

test("a slow PUT: the upload is not failed while its sender is active", async () => {
  const { id, end } = await beginPut();
  await query("update uploads set url_expires_at = now() - interval '30 hours' where id = $1", id);
  await failExpiredUploads({ ...app, log });
  assert.equal((await row(id)).status, "awaiting");
  assert.deepEqual(await end(), [200, undefined]);
  const { status, file_etag } = await row(id);
  assert.deepEqual([status, file_etag], ["processing", (await app.store.head(uploadFileKey(id)))?.etag]);
});

test("failed in the meantime: the PUT is refused and its file is not kept", async () => {
  const { id, end } = await beginPut();
  await query("update uploads set status = 'failure', failure_reason = 'expired' where id = $1", id);
  assert.deepEqual(await end(), [409, "wrong_state"]);
  await assertNothingKept(id);
});

test("deleted in the meantime: the PUT is refused and its file is not kept", async () => {
  const { id, end } = await beginPut();
  await query("delete from uploads where id = $1", id);
  // Longer than it takes to cut a sender whose access has ended.
  await setTimeout(1100);
  assert.deepEqual(await end(), [404, "not_found"]);
  await assertNothingKept(id);
});

test("two concurrent PUTs, of which the first has failed and is gone: the second is refused and not kept", async () => {
  const { id, end } = await beginPut();
  await query(
    "update uploads set status = 'failure', failure_reason = 'too short', received_at = now(), file_etag = 'of the first' where id = $1",
    id,
  );
  assert.deepEqual(await end(), [412, "already_uploaded"]);
  await assertNothingKept(id);
});

test("noticed in the store before the PUT is recorded: it is acknowledged all the same", async () => {
  const { id, end } = await beginPut();
  const client = await app.db.pool.connect();
  try {
    await client.query("begin");
    await client.query("select 1 from uploads where id = $1 for update", [id]);
    const answer = end();
    const file = await until(
      "the file is in the store",
      async () => (await app.store.head(uploadFileKey(id))) ?? undefined,
    );
    await client.query(
      "update uploads set status = 'processing', received_at = now(), file_etag = $2 where id = $1",
      [id, file.etag],
    );
    await client.query("commit");
    assert.deepEqual(await answer, [200, undefined]);
  } finally {
    client.release();
  }
  assert.notEqual(await app.store.head(uploadFileKey(id)), null);
});
