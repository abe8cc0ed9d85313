import assert from "node:assert/strict";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { ListObjectsV2Command, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import pg from "pg";
import { call } from "../support/call.ts";
import { writePaddedMedia } from "../support/padded-media.ts";
import { noS3Server, startS3Server } from "../support/s3-server.ts";
import { parley, prepareServer, type ServerProcess } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const folder = mkdtempSync(join(tmpdir(), "parley-watched-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Files become ready when they have not changed for three intervals. */
const intervalMs = 400;
let sizes = 40_000;

/** A video whose content no other has. */
function video(): Buffer {
  const path = join(folder, "prepared");
  writePaddedMedia(path, "good-faststart.mp4", ++sizes);
  return readFileSync(path);
}

/** Ends of uploads by title. */
async function outcomes(server: ServerProcess, token: string): Promise<[string, string, string][]> {
  const { body } = await call(server, "POST", "/uploads", {}, { token });
  const all = body.uploads as { title: string; status: string; failure?: { reason: string } }[];
  return all.map(({ title, status, failure }) => [title, status, failure?.reason ?? ""]);
}

/** Waits until every watched file has been dealt with. */
async function allEnded(client: pg.Client, count: number): Promise<void> {
  await until(`${count} files have ended`, async () => {
    const { rows } = await client.query(
      "select count(*) filter (where state in ('done', 'failed'))::integer as ended, count(*)::integer as all from watched_files where state <> 'waiting' or seen_at > clock_timestamp() - interval '2 s'",
    );
    return rows[0].ended >= count && rows[0].ended === rows[0].all;
  });
}

test("two workers, slow copies, renames, a kill and a restart: each file becomes one recording", async () => {
  const watched = join(folder, "watched");
  mkdirSync(watched);
  const env = {
    PARLEY_WATCH_DIRS: watched,
    PARLEY_WATCH_INTERVAL: `${intervalMs}ms`,
    PARLEY_SWEEP_INTERVAL: "500ms",
  };
  const server = await prepareServer({ env });
  const worker = await prepareServer({ env: { ...env, PARLEY_ROLE: "worker" }, shared: server });
  const client = new pg.Client(server.env.PARLEY_DATABASE_URL);
  after(async () => {
    await client.end();
    await worker.dispose();
    await server.dispose();
  });
  await server.start();
  await client.connect();
  const token = await parley(server, "token", "create", "--email", "admin@parley.local");
  await worker.start();

  /** Copies as a slow network does. */
  const copySlowly = async (name: string): Promise<void> => {
    const content = video();
    const file = openSync(join(watched, name), "w");
    for (let part = 0; part < 20; part += 1) {
      writeSync(file, content, part * 2000, Math.min(2000, Math.max(0, content.length - part * 2000)));
      if (part === 19) writeSync(file, content, 40_000, content.length - 40_000);
      await delay(100);
    }
    closeSync(file);
  };
  /** Renames a file while it is watched, and perhaps read. */
  const renameOften = async (name: string): Promise<void> => {
    let path = join(folder, "prepared-name");
    writePaddedMedia(path, "good-faststart.mp4", ++sizes);
    for (let round = 0; round < 6; round += 1) {
      const next = join(watched, round === 5 ? name : `${round} ${name}`);
      renameSync(path, next);
      path = next;
      await delay(round * 2 * intervalMs * 0.6);
    }
  };
  const names = ["Slow", "Plain 1", "Plain 2"];
  writePaddedMedia(join(watched, "Plain 1.mp4"), "good-faststart.mp4", 20_000_000);
  writePaddedMedia(join(watched, "Plain 2.mp4"), "good-faststart.mp4", 20_000_001);
  const copies = Promise.all([copySlowly("Slow.mp4"), renameOften("Renamed.mp4")]);
  await until("a file is being imported", async () => {
    const { rows } = await client.query("select 1 from uploads limit 1");
    return rows.length > 0;
  });
  const { rows: processes } = await client.query("select watched_folders from processes");
  assert.deepEqual(processes, [{ watched_folders: [watched] }, { watched_folders: [watched] }]);
  await worker.kill();
  await copies;
  await worker.start();
  // The renamed file may have been found by an earlier name, and be known as a copy by the last.
  await allEnded(client, names.length + 1);
  const found = await outcomes(server, token);
  const titles = found.map(([title]) => title.replace(/^\d /, ""));
  assert.deepEqual(titles.sort(), [...names, "Renamed"].sort(), JSON.stringify(found));
  assert.ok(
    found.every(([, status]) => status === "success"),
    JSON.stringify(found),
  );
  const { body } = await call(server, "POST", "/recordings", {}, { token });
  assert.equal(body.recordings.length, names.length + 1);
});

test("a prefix of a bucket is watched like a folder", { skip: noS3Server }, async () => {
  const s3 = await startS3Server();
  if (s3 === null) return;
  after(() => s3.stop());
  const bucket = await s3.bucket();
  const { endpoint, ...credentials } = s3;
  const client = new S3Client({ endpoint, credentials, region: "us-east-1", forcePathStyle: true });
  after(() => client.destroy());
  const put = (name: string, content: Buffer | string) =>
    client.send(new PutObjectCommand({ Bucket: bucket, Key: `incoming/${name}`, Body: content }));
  const list = async (): Promise<string[]> => {
    const { Contents = [] } = await client.send(
      new ListObjectsV2Command({ Bucket: bucket, Prefix: "incoming/" }),
    );
    return Contents.map(({ Key = "" }) => Key.slice("incoming/".length)).sort();
  };
  const server = await prepareServer({
    env: {
      PARLEY_STORAGE: "s3",
      PARLEY_S3_ENDPOINT: s3.endpoint,
      PARLEY_S3_BUCKET: bucket,
      PARLEY_WATCH_DIRS: `s3://${bucket}/incoming/`,
      PARLEY_WATCH_INTERVAL: `${intervalMs}ms`,
      AWS_ACCESS_KEY_ID: s3.accessKeyId,
      AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
    },
  });
  after(() => server.dispose());
  await put("parley.json", JSON.stringify({ source: "move", tags: ["bucket"] }));
  await put("Q3 results/Board #1 (100%) + ä.mp4", video());
  await put("Broken.mp4", "no video");
  await server.start();
  const token = await parley(server, "token", "create", "--email", "admin@parley.local");
  const settled = await until("both files have ended", async () => {
    const found = await outcomes(server, token);
    return (
      found.length === 2 && found.every(([, status]) => ["success", "failure"].includes(status)) && found
    );
  });
  assert.deepEqual(settled.map(([title, status]) => [title, status]).sort(), [
    ["Board #1 (100%) + ä", "success"],
    ["Broken", "failure"],
  ]);
  const expected = [
    ...[
      "Broken.mp4",
      "Broken.mp4.error.txt",
      "parley-imported/Q3 results/Board #1 (100%) + ä.mp4",
      "parley.json",
    ],
  ];
  await until(
    "the sources are sorted",
    async () => JSON.stringify(await list()) === JSON.stringify(expected),
  );
});
