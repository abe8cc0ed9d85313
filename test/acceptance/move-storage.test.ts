import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import pg from "pg";
import { call } from "../support/call.ts";
import { createLibrary, failing, mediaFile } from "../support/library.ts";
import { noS3Server, startS3Server } from "../support/s3-server.ts";
import { killAtLine, parley, prepareServer } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const s3 = await startS3Server();
after(() => s3?.stop());

if (s3 === null) {
  test("files move between local disk and S3", { skip: noS3Server });
} else {
  const bucket = await s3.bucket();
  const env = {
    PARLEY_S3_ENDPOINT: s3.endpoint,
    PARLEY_S3_DOWNLOADS: "bucket",
    PARLEY_S3_BUCKET: bucket,
    AWS_ACCESS_KEY_ID: s3.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
  };
  const server = await prepareServer({ env: { ...env, PARLEY_ROLE: "api" } });
  const worker = await prepareServer({ env: { ...env, PARLEY_ROLE: "worker" }, shared: server });
  after(async () => {
    await worker.dispose();
    await server.dispose();
  });
  await server.start();
  await worker.start();
  const library = await createLibrary(server);
  const { token } = library;
  const objects = join(server.env.PARLEY_DATA_DIR ?? "", "objects");

  const query = async (text: string): Promise<Record<string, unknown>[]> => {
    const client = new pg.Client(server.env.PARLEY_DATABASE_URL);
    await client.connect();
    return client
      .query(text)
      .then(({ rows }) => rows)
      .finally(() => client.end());
  };

  const keysInBucket = async (): Promise<string[]> => {
    const { endpoint, accessKeyId, secretAccessKey } = s3;
    const client = new S3Client({
      endpoint,
      credentials: { accessKeyId, secretAccessKey },
      region: "us-east-1",
      forcePathStyle: true,
    });
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }));
    client.destroy();
    return Contents.map(({ Key = "" }) => Key);
  };

  const localFiles = (): string[] =>
    existsSync(objects)
      ? readdirSync(objects, { recursive: true, encoding: "utf8" }).filter((name) => !name.startsWith("."))
      : [];

  /** A signed URL of a recording's file, as players get it. */
  async function mediaUrl(recording: string): Promise<string> {
    const { headers } = await call(server, "GET", `/recordings/${recording}/download`, undefined, { token });
    return (headers.get("location") ?? "").replace("localhost", "127.0.0.1");
  }

  /** Where the file of a recording is downloaded from. */
  async function downloadedFrom(recording: string): Promise<string> {
    const response = await fetch(await mediaUrl(recording));
    await response.body?.cancel();
    return response.url;
  }

  /** Plays with one URL and with new ones until it is stopped. @returns the number of ranges. */
  function play(recording: string): () => Promise<number> {
    let isPlaying = true;
    const playing = (async () => {
      const first = await mediaUrl(recording);
      let count = 0;
      while (isPlaying) {
        for (const url of [first, await mediaUrl(recording)]) {
          const start = (count * 977) % (mediaFile.length - 500);
          const response = await fetch(url, { headers: { range: `bytes=${start}-${start + 499}` } });
          assert.equal(response.status, 206, url);
          const bytes = Buffer.from(await response.arrayBuffer());
          assert.ok(bytes.equals(mediaFile.subarray(start, start + 500)), `bytes at ${start}`);
          count += 1;
        }
        await delay(400);
      }
      return count;
    })();
    return () => {
      isPlaying = false;
      return playing;
    };
  }

  function uploadThroughout(): () => Promise<number> {
    let isUploading = true;
    const uploading = (async () => {
      let count = 0;
      for (; isUploading; count++) {
        await library.uploadMedia();
        // A file takes as long to validate as some commands.
        await delay(2000);
      }
      return count;
    })();
    return () => {
      isUploading = false;
      return uploading;
    };
  }

  async function createUpload() {
    return (await call(server, "POST", "/uploads/create", { media_type: "audio" }, { token })).body;
  }

  const resumable = { "tus-resumable": "1.0.0", "content-type": "application/offset+octet-stream" };
  /** Begins a resumable upload. @returns how to send the rest. */
  async function beginResumable(): Promise<() => Promise<string>> {
    const { id, media } = await createUpload();
    const url = media.upload.tus_url.replace("localhost", "127.0.0.1");
    const half = Math.floor(mediaFile.length / 2);
    const begun = await fetch(url, {
      method: "POST",
      headers: { ...resumable, "upload-length": String(mediaFile.length) },
      body: mediaFile.subarray(0, half),
    });
    assert.equal(begun.status, 201, await begun.text());
    return async () => {
      const sent = await fetch(url, {
        method: "PATCH",
        headers: { ...resumable, "upload-offset": String(half) },
        body: mediaFile.subarray(half),
      });
      assert.equal(sent.status, 204, await sent.text());
      return library.recordingOf(id);
    };
  }

  /** Sends half of a file. @returns how to send the rest. */
  async function beginPut(): Promise<() => Promise<string>> {
    const { id, media } = await createUpload();
    const { url, headers } = media.upload;
    const sending = request(url.replace("localhost", "127.0.0.1"), {
      method: "PUT",
      headers: { ...headers, "content-length": mediaFile.length },
    });
    const half = Math.floor(mediaFile.length / 2);
    await new Promise((resolve) => sending.write(mediaFile.subarray(0, half), resolve));
    const responded = once(sending, "response");
    return async () => {
      sending.end(mediaFile.subarray(half));
      const [{ statusCode }] = await responded;
      assert.equal(statusCode, 200);
      return library.recordingOf(id);
    };
  }

  /** The sessions in which processes show what they use. */
  const presenceOf = "pid in (select pid from pg_locks where locktype = 'advisory' and classid = 1885434369)";

  /** The copy must wait for a write to the source that is in flight, also after the sessions of all processes broke. */
  async function migrateDuringPut(): Promise<void> {
    const finish = await beginPut();
    let isChecked = false;
    let isEarly = false;
    const command = killAtLine(server, ["storage", "migrate", "--to", "s3", "--json"], (line) => {
      isEarly ||= line.includes('"phase":"files"');
      return isEarly || isChecked;
    });
    await until("processes write to the target", async () => {
      const [row] = await query("select state from store_migration");
      return row?.state === "copying";
    });
    const cut = await query(
      `select pid, pg_terminate_backend(pid) from pg_stat_activity where ${presenceOf}`,
    );
    await until("processes have new sessions", async () => {
      const now = await query(`select pid from pg_stat_activity where ${presenceOf}`);
      return now.length === cut.length && now.every(({ pid }) => cut.every((old) => old.pid !== pid));
    });
    isChecked = true;
    await command;
    assert.equal(isEarly, false, "the copy began before the write had ended");
    await finish();
  }

  /** Migrates under load. @param kills phases in which the command is killed first. */
  async function migrate(to: "s3" | "local", recording: string, kills: readonly string[]): Promise<void> {
    const before = await library.readAll();
    const stops = [play(recording), uploadThroughout()];
    for (const phase of kills) {
      const isMoment = (line: string): boolean => line.includes(`"phase":"${phase}"`);
      assert.ok(await killAtLine(server, ["storage", "migrate", "--to", to, "--json"], isMoment), phase);
    }
    const lines = await parley(server, "storage", "migrate", "--to", to, "--json");
    const result = JSON.parse(lines.split("\n").at(-1) ?? "");
    assert.ok(result.files >= before.size && result.damaged.length === 0, lines);
    for (const count of await Promise.all(stops.map((stop) => stop()))) assert.ok(count > 0);
    const now = await library.readAll();
    for (const [name, content] of before) assert.equal(now.get(name), content, name);
    await parley(server, "files", "verify");
  }

  test("local disk to S3 under load, killed in each phase: nothing is lost, and the source can be removed", async () => {
    const recording = await library.uploadMedia();
    await library.uploadMedia();
    const finish = await beginResumable();
    await migrateDuringPut();
    await migrate("s3", recording, ["waiting", "files"]);
    assert.match(
      await failing(server, "storage", "migrate", "--to", "s3", "--remove-source"),
      /1 resumable upload that began before continue/,
    );
    await finish();
    const all = await library.readAll();
    const stop = play(recording);
    await parley(server, "storage", "migrate", "--to", "s3", "--remove-source");
    assert.ok((await stop()) > 0);
    assert.deepEqual(localFiles(), []);
    assert.deepEqual(await library.readAll(), all);
    assert.ok((await downloadedFrom(recording)).startsWith(s3.endpoint));
    // The setting still names the former store.
    await server.stop();
    await server.start();
    assert.match(server.output().stderr, /PARLEY_STORAGE=local is out of date/);
    assert.deepEqual(await library.readAll(), all);
  });

  test("S3 to local disk under load: URLs of the bucket work until they expire, and only then it can be emptied", async () => {
    const recording = await library.uploadMedia();
    const { id, media } = await createUpload();
    assert.ok(media.upload.url.startsWith(s3.endpoint));
    await migrate("local", recording, []);
    const { status } = await fetch(media.upload.url, {
      method: "PUT",
      headers: media.upload.headers,
      body: mediaFile,
    });
    assert.equal(status, 200);
    await library.recordingOf(id);
    assert.doesNotMatch(await downloadedFrom(recording), /X-Amz-Signature/);
    const all = await library.readAll();
    assert.match(
      await failing(server, "storage", "migrate", "--to", "local", "--remove-source"),
      /signed URLs of the source are valid until/,
    );
    await query(
      "update uploads set url_expires_at = now() - interval '1 second' where url_expires_at is not null",
    );
    await query("update store_migration set switched_at = now() - interval '1 day'");
    await parley(server, "storage", "migrate", "--to", "local", "--remove-source");
    assert.deepEqual(await keysInBucket(), []);
    assert.deepEqual(await library.readAll(), all);
  });

  test("without the settings of the target in all processes nothing begins", async () => {
    await worker.stop();
    const lacking = await prepareServer({ env: { PARLEY_ROLE: "worker" }, shared: server });
    after(() => lacking.dispose());
    await lacking.start();
    assert.match(
      await failing(server, "storage", "migrate", "--to", "s3"),
      /1 process \(this machine\) can't use the s3 file store/,
    );
    assert.match(lacking.output().stderr, /PARLEY_S3_BUCKET is not set/);
    await library.readAll();
  });
}
