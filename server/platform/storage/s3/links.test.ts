import assert from "node:assert/strict";
import { test } from "node:test";
import { setS3Credentials } from "../../../../test/support/s3-credentials.ts";
import { openS3Store } from "./s3.ts";

setS3Credentials();

test("links: the same one is given again until shortly before its end; any difference makes another", async (context) => {
  context.mock.timers.enable({ apis: ["Date"], now: Date.now() });
  const store = openS3Store({ bucket: "b", endpoint: "http://127.0.0.1:1" });
  const inSeconds = (seconds: number): Date => new Date(Date.now() + seconds * 1000);
  const expiresAt = inSeconds(3600);
  const upload = async (key: string, until: Date): Promise<string> =>
    (await store.uploadLink(key, { expiresAt: until }))?.url as string;
  const options = { expiresAt, contentType: "video/mp4" };
  const soon = inSeconds(40);
  const links = async (): Promise<(string | null)[]> => [
    await upload("uploads/a/file", expiresAt),
    await upload("uploads/b/file", expiresAt),
    await upload("uploads/a/file", new Date(expiresAt.getTime() + 1000)),
    await store.downloadLink("uploads/a/file", options),
    await store.downloadLink("uploads/a/file", { ...options, fileName: "a.mp4" }),
    await store.downloadLink("uploads/a/file", { ...options, contentType: "audio/mpeg" }),
  ];
  const first = await links();
  assert.equal(new Set(first).size, first.length);
  const brief = await upload("uploads/a/file", soon);
  context.mock.timers.tick(5000);
  assert.deepEqual(await links(), first);
  assert.notEqual(await upload("uploads/a/file", soon), brief);
  context.mock.timers.tick(3600_000);
  await assert.rejects(upload("uploads/a/file", expiresAt), RangeError);
  await store.close();
});

test("links: they are signed again when the credentials change", async (context) => {
  context.mock.timers.enable({ apis: ["Date"], now: Date.now() });
  const expiresAt = new Date(Date.now() + 3600_000);
  const before = process.env.AWS_CREDENTIAL_EXPIRATION;
  // Session credentials carry their end; the library then reads the next ones.
  process.env.AWS_CREDENTIAL_EXPIRATION = new Date(Date.now() + 600_000).toISOString();
  const key = process.env.AWS_ACCESS_KEY_ID;
  const store = openS3Store({ bucket: "b", endpoint: "http://127.0.0.1:1" });
  try {
    const first = await store.uploadLink("uploads/a/file", { expiresAt });
    process.env.AWS_ACCESS_KEY_ID = "another";
    assert.deepEqual(await store.uploadLink("uploads/a/file", { expiresAt }), first);
    context.mock.timers.tick(601_000);
    const second = await store.uploadLink("uploads/a/file", { expiresAt });
    assert.match(second?.url ?? "", /Credential=another/);
  } finally {
    process.env.AWS_ACCESS_KEY_ID = key;
    if (before === undefined) delete process.env.AWS_CREDENTIAL_EXPIRATION;
    else process.env.AWS_CREDENTIAL_EXPIRATION = before;
    await store.close();
  }
});
