import assert from "node:assert/strict";
import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after, before, suite, test } from "node:test";
import {
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { setS3Credentials } from "../../../../test/support/s3-credentials.ts";
import { noS3Server, startS3Server } from "../../../../test/support/s3-server.ts";
import { until } from "../../../../test/support/until.ts";
import { contentDisposition } from "../content-disposition.ts";
import { BodyBrokenError, type ObjectStore, ObjectTooLargeError } from "../store.ts";
import { testObjectStore } from "../test/conformance.ts";
import { all, inSteps, mebibyte, newKey, nothingAt, read, sampleBytes } from "../test/conformance-tools.ts";
import { withServer } from "../test/s3-fake.ts";
import { begunName, mergedName, pieceName } from "./pieces.ts";
import { openS3Store } from "./s3.ts";

// Runs alone: collecting its large buffers takes twice as long in a process that has loaded the whole server.

const server = await startS3Server();
after(() => server?.stop());

setS3Credentials(server ?? undefined);

if (server === null) {
  test("the S3 store, against a real S3 server", { skip: noS3Server });
} else
  suite("S3", () => {
    const { endpoint } = server;
    const settings = { endpoint, forcePathStyle: true };
    let bucket: string;
    let store: ObjectStore;
    let client: S3Client;
    before(async () => {
      bucket = await server.bucket();
      store = openS3Store({ ...settings, bucket });
      client = new S3Client({ ...settings, region: "us-east-1" });
    });
    after(async () => {
      await store.close();
      client.destroy();
    });
    const inSeconds = (seconds: number): Date => new Date(Date.now() + seconds * 1000);

    testObjectStore(() => store);

    test("prefix: two stores in one bucket know nothing of each other", async () => {
      const shared = await server.bucket();
      const [one, two] = ["one/", "two/"].map((prefix) =>
        openS3Store({ ...settings, bucket: shared, prefix }),
      );
      assert.ok(one !== undefined && two !== undefined);
      await one.put("a", Buffer.from("one"));
      await one.append("b", 0, Readable.from([Buffer.from("x")]));
      await two.put("a", Buffer.from("two"), { ifAbsent: true });
      await one.copy("a", "c");
      assert.equal((await read(one, "c")).toString(), "one");
      assert.deepEqual(
        (await all(two.list(""))).map(({ key }) => key),
        ["a"],
      );
      assert.equal(await two.appended("b"), null);
      assert.deepEqual(
        ["one/uploads/a", "two/uploads/a", "uploads/a", "zone/uploads/a"].map((name) => one.ownKey(name)),
        ["uploads/a", null, null, null],
      );
      await one.close();
      await two.close();
    });

    test("downloadLink: anybody can read by it, under the name and type it was made with", async () => {
      const key = newKey();
      await store.put(key, Buffer.from("content"));
      const options = { expiresAt: inSeconds(60), contentType: "video/mp4" };
      const link = await store.downloadLink(key, { ...options, fileName: 'Ü "1".mp4' });
      const answer = await fetch(link as string);
      assert.equal(answer.headers.get("content-type"), "video/mp4");
      assert.equal(
        answer.headers.get("content-disposition"),
        `attachment; filename="_ _1_.mp4"; filename*=UTF-8''%C3%9C%20%221%22.mp4`,
      );
      assert.equal(await answer.text(), "content");
      const shown = await fetch((await store.downloadLink(key, options)) as string);
      assert.equal(shown.headers.get("content-disposition"), "inline");
      await shown.body?.cancel();
    });

    test("downloadLink: it expires, and cannot be made for the past or for more than seven days", async () => {
      const key = newKey();
      await store.put(key, Buffer.from("content"));
      const link = (await store.downloadLink(key, {
        expiresAt: inSeconds(2),
        contentType: "text/plain",
      })) as string;
      assert.equal((await fetch(link)).status, 200);
      await until("the link has expired", async () => {
        const { status } = await fetch(link);
        return status === 403;
      });
      for (const seconds of [-1, 8 * 24 * 3600])
        await assert.rejects(store.uploadLink(key, { expiresAt: inSeconds(seconds) }), RangeError);
    });

    test("uploadLink: one PUT with its headers succeeds, a second gets 412, one without them is refused", async () => {
      const key = newKey();
      const link = await store.uploadLink(key, { expiresAt: inSeconds(60) });
      assert.ok(link !== null);
      const { url, headers } = link;
      assert.deepEqual(headers, { "If-None-Match": "*" });
      const query = new URL(url).searchParams;
      assert.equal(query.get("X-Amz-SignedHeaders"), "host;if-none-match");
      assert.doesNotMatch(url, /checksum|crc/i);
      const put = async (with_: Record<string, string>): Promise<number> => {
        const answer = await fetch(url, { method: "PUT", body: "bytes", headers: with_ });
        await answer.text();
        return answer.status;
      };
      assert.equal(await put({}), 403);
      await nothingAt(store, key);
      assert.equal(await put({ ...headers, "content-type": "video/mp4" }), 200);
      assert.equal(await put({ ...headers }), 412);
      assert.equal((await read(store, key)).toString(), "bytes");
    });

    test("sweepLeftovers: what a killed process left is thrown away; younger things and other people's stay", async () => {
      const shared = await server.bucket();
      const mine = openS3Store({ ...settings, bucket: shared, prefix: "mine/" });
      const begin = (Key: string): Promise<unknown> =>
        client.send(new CreateMultipartUploadCommand({ Bucket: shared, Key }));
      const ours = ["mine/uploads/a/file", "mine/recordings/a/media.mp4", "mine/parley/secret"];
      const others = ["backup.tar", "uploads/a/file", "mine/backup.tar", "minerals/uploads/x"];
      for (const key of [...ours, ...others]) await begin(key);
      const probes = ["mine/.probe/left", ".probe/left"];
      for (const Key of probes)
        await client.send(new PutObjectCommand({ Bucket: shared, Key, Body: "parley" }));
      assert.equal(await mine.sweepLeftovers(inSeconds(-3600)), 0);
      assert.equal(await mine.sweepLeftovers(inSeconds(3600)), 4);
      const { Uploads } = await client.send(new ListMultipartUploadsCommand({ Bucket: shared }));
      assert.deepEqual(Uploads?.map(({ Key }) => Key).sort(), others.sort());
      const { Contents } = await client.send(new ListObjectsV2Command({ Bucket: shared }));
      assert.deepEqual(
        Contents?.map(({ Key }) => Key),
        [".probe/left"],
      );
      const whole = openS3Store({ ...settings, bucket: shared });
      assert.equal(await whole.sweepLeftovers(inSeconds(3600)), 2);
      for (const used of [mine, whole]) await used.close();
    });

    const piecesOf = async (key: string): Promise<string[]> => {
      const found = await client.send(
        new ListObjectsV2Command({ Bucket: bucket, Prefix: `.partial/${key}/` }),
      );
      return (found.Contents ?? []).map(({ Key }) => Key as string);
    };

    test("append: tiny ones are made one from time to time; a crash before the small are gone does no harm", async () => {
      const [key, bytes] = [newKey(), sampleBytes(7000)];
      let offset = 0;
      const appendAll = async (count: number): Promise<void> => {
        for (let index = 0; index < count; index++)
          offset = await store.append(key, offset, Readable.from([bytes.subarray(offset, offset + 70)]));
      };
      await appendAll(32);
      assert.equal((await piecesOf(key)).length, 32);
      const before = await piecesOf(key);
      const copies = before.map((name, index) => ({
        name,
        Body: bytes.subarray(index * 70, index * 70 + 70),
      }));
      await appendAll(1);
      assert.deepEqual(await piecesOf(key), [mergedName(key, 0, 32 * 70), pieceName(key, 32 * 70)]);
      // As if it had been killed while it removed the small ones.
      for (const { name: Key, Body } of copies)
        await client.send(new PutObjectCommand({ Bucket: bucket, Key, Body }));
      assert.equal((await store.appended(key))?.offset, 33 * 70);
      await appendAll(1);
      assert.equal((await piecesOf(key)).length, 3);
      for (const { name: Key, Body } of copies)
        await client.send(new PutObjectCommand({ Bucket: bucket, Key, Body }));
      await appendAll(66);
      assert.ok((await piecesOf(key)).length <= 34);
      assert.equal((await store.finishAppend(key)).size, 7000);
      assert.ok(bytes.equals(await read(store, key)));
      assert.deepEqual(await piecesOf(key), []);
    });

    test("putFile: aborted midway, it leaves nothing, not even an open multipart upload", async () => {
      const [key, folder] = [newKey(), await mkdtemp(join(tmpdir(), "parley-file-"))];
      const openUploads = async (): Promise<number> =>
        (await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }))).Uploads?.length ?? 0;
      try {
        const path = join(folder, "large");
        await writeFile(path, "");
        await truncate(path, 200 * mebibyte);
        const abort = new AbortController();
        const put = store.putFile(key, path, { signal: abort.signal });
        await until("the parts are on their way", async () => (await openUploads()) > 0);
        abort.abort();
        await assert.rejects(put, BodyBrokenError);
        assert.equal(await openUploads(), 0);
        await nothingAt(store, key);
      } finally {
        await rm(folder, { recursive: true });
      }
    });

    test("finishAppend: a call after a crash carries on, whichever piece was removed last", async () => {
      for (const size of [9 * mebibyte, 40 * mebibyte]) {
        const [key, bytes] = [newKey(), sampleBytes(size)];
        await store.append(key, 0, inSteps(bytes, 65_536));
        const info = await store.finishAppend(key);
        // Everything was joined, nothing removed yet: the same pieces are put back.
        await store.append(key, 0, inSteps(bytes, 65_536));
        assert.equal((await store.finishAppend(key)).etag, info.etag);
        // The first piece was removed and no other.
        await store.append(key, 0, inSteps(bytes, 65_536));
        await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: pieceName(key, 0) }));
        assert.equal(await store.appended(key), null);
        assert.equal((await store.finishAppend(key)).etag, info.etag);
        assert.deepEqual(await all(store.listAppends(key)), []);
        assert.ok(bytes.equals(await read(store, key)));
      }
    });

    test("append: pieces that a cut removal left are not taken for part of a new append", async () => {
      const key = newKey();
      await store.append(key, 0, inSteps(sampleBytes(17 * mebibyte), 65_536));
      await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: pieceName(key, 0) }));
      const bytes = sampleBytes(8 * mebibyte, 7);
      assert.equal(await store.append(key, 0, inSteps(bytes, 65_536)), bytes.length);
      assert.equal((await store.finishAppend(key)).size, bytes.length);
      assert.ok(bytes.equals(await read(store, key)));
      assert.ok(!begunName(key).startsWith(key));
    });

    test("errors: they name operation, key, bucket and the server's code", async () => {
      const lost = openS3Store({ ...settings, bucket: "no-such-bucket" });
      await assert.rejects(lost.put("some/key", Buffer.from("x")), {
        message: /^could not store some\/key in the bucket no-such-bucket: NoSuchBucket/,
        code: "NoSuchBucket",
      });
      await assert.rejects(lost.get("some/key"), { code: "NoSuchBucket" });
      await assert.rejects(all(lost.list("")), { code: "NoSuchBucket" });
      await lost.close();
    });

    test("probe: a bucket that is missing and keys that are wrong are said in one line", async () => {
      const lost = openS3Store({ ...settings, bucket: "no-such-bucket" });
      const message = `there is no bucket no-such-bucket at ${endpoint}`;
      await assert.rejects(lost.probe(), { message });
      await assert.rejects(lost.check(), { message });
      await lost.close();
      const key = process.env.AWS_SECRET_ACCESS_KEY;
      process.env.AWS_SECRET_ACCESS_KEY = "wrong";
      const stranger = openS3Store({ ...settings, bucket });
      try {
        const refused = `^the bucket ${bucket} at ${endpoint} refused to store a test object: SignatureDoesNotMatch \\(403\\): the secret access key is wrong$`;
        await assert.rejects(stranger.probe(), { message: new RegExp(refused) });
        await assert.rejects(stranger.check(), {
          message: /^the bucket .* refused a request for its properties: .*\(403\).*$/,
        });
      } finally {
        process.env.AWS_SECRET_ACCESS_KEY = key;
        await stranger.close();
      }
    });
  });

test("probe: an unreachable server fails within ten seconds and is named", async () => {
  const unreachable = openS3Store({ bucket: "b", endpoint: "http://127.0.0.1:1", forcePathStyle: true });
  const begun = performance.now();
  await assert.rejects(unreachable.probe(), {
    message: "nothing responds at http://127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1",
  });
  assert.ok(performance.now() - begun < 10_000);
  await unreachable.close();
});

test("probe: a server that accepts the request and never responds times out within ten seconds", async () => {
  await withServer(
    () => {},
    async (silent) => {
      const begun = performance.now();
      await assert.rejects(
        silent.probe(),
        /the bucket b at .* could not be reached: there was no response for 9 seconds/,
      );
      assert.ok(performance.now() - begun < 10_500);
    },
  );
});

test("put: a stalled body ends with the body's own error instead of waiting", async () => {
  await withServer(
    (incoming) => incoming.resume(),
    async (silent) => {
      const bytes = sampleBytes(9 * mebibyte + 1);
      const tooLong = silent.put("k", inSteps(bytes, 65_536), { contentLength: 9 * mebibyte });
      await assert.rejects(tooLong, BodyBrokenError);
      const tooMany = silent.put("k", inSteps(bytes, 65_536), { maxBytes: mebibyte });
      await assert.rejects(tooMany, ObjectTooLargeError);
    },
  );
});

test("put: small and known bodies are sent again when the server is busy for the moment", async () => {
  let requests = 0;
  await withServer(
    (incoming, response) => {
      incoming.resume().on("end", () => {
        requests++;
        if (requests < 3) response.writeHead(503).end("<Error><Code>SlowDown</Code></Error>");
        else response.writeHead(200, { etag: '"abc"' }).end();
      });
    },
    async (busy) => {
      const info = await busy.put("k", inSteps(sampleBytes(1000), 100), { contentLength: 1000 });
      assert.deepEqual([info.etag, requests], ["abc", 3]);
    },
  );
});

test("put: after a lost response the object is recognized by its marker, so a retried put succeeds", async () => {
  let mark: string | undefined;
  await withServer(
    (incoming, response) => {
      incoming.resume().on("end", () => {
        const sent = incoming.headers["x-amz-meta-parley-mark"] as string | undefined;
        if (incoming.method === "PUT" && mark === undefined) {
          mark = sent;
          incoming.socket.destroy();
        } else if (incoming.method === "PUT") response.writeHead(412).end();
        else response.writeHead(200, { etag: '"abc"', "x-amz-meta-parley-mark": mark as string }).end();
      });
    },
    async (forgetful) => {
      const info = await forgetful.put("k", Buffer.from("x"), { ifAbsent: true });
      assert.equal(info.etag, "abc");
    },
  );
});

test("file names: every character comes through, and nothing gets out of the quotes", () => {
  assert.equal(contentDisposition(undefined), "inline");
  assert.equal(contentDisposition("a.mp4"), `attachment; filename="a.mp4"; filename*=UTF-8''a.mp4`);
  const odd = contentDisposition("a\"b\\c%d\r\n(é)'*😀.mp4");
  assert.equal(
    odd,
    `attachment; filename="a_b_c_d__(_)'*_.mp4"; filename*=UTF-8''a%22b%5Cc%25d%0D%0A%28%C3%A9%29%27%2A%F0%9F%98%80.mp4`,
  );
});
