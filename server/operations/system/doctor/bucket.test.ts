import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { PutBucketCorsCommand, S3Client } from "@aws-sdk/client-s3";
import { setS3Credentials } from "../../../../test/support/s3-credentials.ts";
import { noS3Server, startS3Server } from "../../../../test/support/s3-server.ts";
import { readConfig } from "../../../platform/config/config.ts";
import { openStore } from "../../../platform/storage/open.ts";
import { openBackupFolder } from "../../backup/folder.ts";
import { testStorage } from "../health/test-component.ts";
import { checkBackups } from "./backups.ts";
import { checkBucket } from "./bucket.ts";
import { checkSkew } from "./clock.ts";

const s3 = await startS3Server();
setS3Credentials(s3 ?? undefined);
const folder = mkdtempSync(join(tmpdir(), "parley-doctor-"));
after(async () => {
  await s3?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("a wrong S3 key and missing CORS rules are named, right ones accepted, and nothing is left behind", {
  skip: noS3Server,
}, async () => {
  if (s3 === null) return;
  const bucket = await s3.bucket();
  const config = readConfig(
    {
      PARLEY_DATA_DIR: folder,
      PARLEY_STORAGE: "s3",
      PARLEY_S3_ENDPOINT: s3.endpoint,
      PARLEY_S3_BUCKET: bucket,
      PARLEY_BASE_URL: "https://parley.example",
    },
    folder,
  );
  process.env.AWS_SECRET_ACCESS_KEY = "not the key";
  const backups = (destination: string, passphrase: string | null = null) =>
    checkBackups({ ...config, backup: { ...config.backup, destination, passphrase } });
  const unwritable = await backups(`s3://${bucket}/backups`);
  assert.equal(unwritable.state, "error");
  assert.match(unwritable.explanation, /refused to store a test object: .*\(403\)/);
  assert.match(unwritable.remedy ?? "", /s3:PutObject/);
  const locked = await openStore(config);
  const refused = await testStorage(locked, config);
  await locked.close();
  assert.equal(refused.state, "failing");
  assert.match(refused.explanation, /refused to store a test object: .*\(403\)/);
  assert.match(refused.remedy ?? "", /AWS_SECRET_ACCESS_KEY/);

  process.env.AWS_SECRET_ACCESS_KEY = s3.secretAccessKey;
  assert.equal((await backups(`s3://${bucket}/backups`)).state, "ok");
  assert.match((await backups("s3://no-such-bucket/backups")).explanation, /no bucket no-such-bucket/);
  const encrypted = await openBackupFolder(
    `s3://${bucket}/encrypted`,
    { ...config, backup: { ...config.backup, passphrase: "right" } },
    "write",
  );
  await encrypted.close();
  const wrongPassphrase = await backups(`s3://${bucket}/encrypted`, "wrong");
  assert.equal(wrongPassphrase.state, "error");
  assert.match(wrongPassphrase.explanation, /PARLEY_BACKUP_PASSPHRASE can't decrypt/);
  const store = await openStore(config);
  assert.equal((await testStorage(store, config)).state, "ok");
  const check = async () => (await checkBucket(store, config))[0];
  const closed = await check();
  assert.equal(closed?.state, "error");
  assert.match(closed?.explanation ?? "", /Browsers can't upload/);
  assert.match(closed?.remedy ?? "", /https:\/\/parley\.example.*if-none-match/);

  const client = new S3Client({
    endpoint: s3.endpoint,
    region: "us-east-1",
    forcePathStyle: true,
    credentials: s3,
  });
  const allow = (origin: string, headers: string[]) =>
    client.send(
      new PutBucketCorsCommand({
        Bucket: bucket,
        CORSConfiguration: {
          CORSRules: [
            {
              AllowedOrigins: [origin],
              AllowedMethods: ["PUT", "GET"],
              AllowedHeaders: ["if-none-match", "content-type"],
              ExposeHeaders: headers,
            },
          ],
        },
      }),
    );
  await allow("https://other.example", ["etag"]);
  assert.equal((await check())?.state, "error");
  await allow("https://parley.example", ["x-other"]);
  assert.match((await check())?.explanation ?? "", /does not expose the header etag/);
  await allow("https://parley.example", ["etag"]);
  assert.deepEqual(
    (await checkBucket(store, config)).map(({ check: name, state }) => [name, state]),
    [
      ["S3 CORS", "ok"],
      ["S3 clock", "ok"],
    ],
  );
  client.destroy();
  const left: string[] = [];
  for await (const { key } of store.list("uploads/")) left.push(key);
  assert.deepEqual(left, []);
  await store.close();
});

test("clocks that differ by seconds are a warning, by minutes an error", () => {
  const state = (ms: number) => checkSkew("clock", "the database", new Date(Date.now() + ms)).state;
  assert.deepEqual([0, -20_000, 600_000].map(state), ["ok", "warning", "error"]);
});
