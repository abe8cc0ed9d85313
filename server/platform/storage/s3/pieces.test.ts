import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { test } from "node:test";
import { setS3Credentials } from "../../../../test/support/s3-credentials.ts";
import { ObjectTooLargeError } from "../store.ts";
import { mebibyte, sampleBytes } from "../test/conformance-tools.ts";
import { withServer } from "../test/s3-fake.ts";
import { planParts } from "./append.ts";
import { minPartBytes, pickGroup } from "./compact.ts";
import { chain, mergedName, type Piece, pieceName } from "./pieces.ts";

setS3Credentials();

function plain(offset: number, size: number): Piece {
  return { name: pieceName("k", offset), offset, size, etag: "", isMerged: false };
}

function merged(offset: number, end: number): Piece {
  return { name: mergedName("k", offset, end), offset, size: end - offset, etag: "", isMerged: true };
}

function inARow(sizes: readonly number[]): Piece[] {
  let offset = 0;
  return sizes.map((size) => {
    offset += size;
    return plain(offset - size, size);
  });
}

test("parts: all but the last have 5 MiB or more, small pieces are merged below 13 MiB, none is lost", () => {
  const layouts = [
    Array.from({ length: 4096 }, () => mebibyte),
    Array.from({ length: 513 }, () => 8 * mebibyte),
    [8, 1, 8, 8, 4, 8, 5, 1, 1, 1].map((count) => count * mebibyte),
    [1],
  ];
  for (const sizes of layouts) {
    const pieces = inARow(sizes);
    const parts = planParts(pieces);
    assert.deepEqual(
      parts.flatMap((part) => part.pieces),
      pieces,
    );
    assert.ok(parts.length <= 1000);
    for (const [index, part] of parts.entries()) {
      const size = part.pieces.reduce((sum, piece) => sum + piece.size, 0);
      assert.ok(size >= 5 * mebibyte || index === parts.length - 1);
      assert.ok(part.isCopy ? part.pieces.length === 1 : size < 13 * mebibyte);
    }
  }
});

test("pieces: a merged one goes before those it was made of, whatever else is there", () => {
  const tail = plain(60, 5);
  const kept = (found: Piece[]): string[] => chain(found).joined.map(({ name }) => name);
  const old = [plain(0, 10), plain(10, 20), merged(0, 30), plain(30, 30)];
  assert.deepEqual(kept([...old, tail]), [merged(0, 30).name, plain(30, 30).name, tail.name]);
  assert.deepEqual(kept([tail, ...old, merged(0, 60)]), [merged(0, 60).name, tail.name]);
  // Stored late by an aborted sender, over bytes merged long ago.
  assert.deepEqual(kept([merged(0, 60), tail, plain(0, 100), plain(10, 70)]), [
    merged(0, 60).name,
    tail.name,
  ]);
  assert.equal(chain([...old, merged(0, 60), tail]).stray.length, 4);
  // The first was removed: nothing counts.
  assert.deepEqual(kept([plain(10, 20), tail]), []);
});

test("pieces: however small they come, few are left, and each byte is rewritten a few times at most", () => {
  for (const [step, total] of [
    [1, 100_000],
    [1024, 24 * mebibyte],
    [mebibyte, 4096 * mebibyte],
    [3 * mebibyte + 1, 1000 * mebibyte],
  ] as const) {
    let pieces: Piece[] = [];
    let [rewritten, most, largest] = [0, 0, 0];
    for (let offset = 0; offset < total; offset += step) {
      const group = pickGroup(pieces);
      if (group.length > 0) {
        const [first, last] = [group[0] as Piece, group.at(-1) as Piece];
        assert.equal(last, pieces.at(-1));
        const whole = merged(first.offset, last.offset + last.size);
        pieces = [...pieces.slice(0, -group.length), whole];
        rewritten += whole.size;
        largest = Math.max(largest, whole.size);
      }
      pieces.push(plain(offset, step));
      most = Math.max(most, pieces.length - Math.floor(offset / minPartBytes));
    }
    assert.ok(most <= 120, `${most} pieces of ${step} bytes`);
    assert.ok(rewritten <= 4 * total, `${rewritten} bytes rewritten in steps of ${step}`);
    assert.ok(largest < 2 * minPartBytes);
  }
});

/** Returns these pieces for listings; the function handles all other requests. */
function bucketOf(
  pieces: readonly Piece[],
  answer: (incoming: IncomingMessage, response: ServerResponse) => void,
): (incoming: IncomingMessage, response: ServerResponse) => void {
  const rows = pieces.map(
    ({ name, size }) =>
      `<Contents><Key>${name}</Key><Size>${size}</Size><ETag>"e"</ETag>` +
      "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>",
  );
  const list = `<ListBucketResult><IsTruncated>false</IsTruncated>${rows.join("")}</ListBucketResult>`;
  return (incoming, response) => {
    if (incoming.url?.includes("list-type=2"))
      response.writeHead(200, { "content-type": "application/xml" }).end(list);
    else answer(incoming, response);
  };
}

test("finishAppend: small pieces are read several at a time, in a bounded number, and joined in their order", async () => {
  const [bytes, pieces] = [sampleBytes(1000), inARow(Array.from({ length: 100 }, () => 10))];
  const waiting: (() => void)[] = [];
  let [most, open] = [0, 0];
  let put = Buffer.alloc(0);
  const answer = (incoming: IncomingMessage, response: ServerResponse): void => {
    if (incoming.method === "HEAD") response.writeHead(404).end();
    else if (incoming.method === "DELETE") response.writeHead(204).end();
    else if (incoming.method === "PUT") {
      const parts: Buffer[] = [];
      incoming
        .on("data", (part: Buffer) => parts.push(part))
        .on("end", () => {
          put = Buffer.concat(parts);
          response.writeHead(200, { etag: '"done"' }).end();
        });
    } else {
      open++;
      most = Math.max(most, open);
      const offset = Number(/\.(\d+)\?/.exec(incoming.url ?? "")?.[1]);
      waiting.push(() => {
        open--;
        response.writeHead(200, { "content-length": 10 }).end(bytes.subarray(offset, offset + 10));
      });
      // The last request gets the first response, so that responses arrive in another order than the pieces.
      setImmediate(() => setImmediate(() => waiting.pop()?.()));
    }
  };
  await withServer(bucketOf(pieces, answer), async (store) => {
    assert.equal((await store.finishAppend("k")).size, 1000);
  });
  assert.ok(bytes.equals(put));
  assert.ok(most > 1 && most <= 16, `${most} at a time`);
});

test("finishAppend: where another call has finished and taken the pieces away meanwhile, it finds what that one made", async () => {
  const pieces = inARow([10, 10]);
  let mark: string | undefined;
  let looks = 0;
  const answer = (incoming: IncomingMessage, response: ServerResponse): void => {
    incoming.resume();
    if (incoming.method === "DELETE") response.writeHead(204).end();
    else if (incoming.method === "PUT") {
      mark = incoming.headers["x-amz-meta-parley-mark"] as string;
      response.writeHead(200, { etag: '"done"' }).end();
    } else if (incoming.method === "HEAD") {
      looks++;
      // The first of each call.
      if (looks <= 2) response.writeHead(404).end();
      else response.writeHead(200, { etag: '"done"', "x-amz-meta-parley-mark": mark as string }).end();
    } else if (mark === undefined) response.writeHead(200, { "content-length": 10 }).end("0123456789");
    else response.writeHead(404).end("<Error><Code>NoSuchKey</Code></Error>");
  };
  await withServer(bucketOf(pieces, answer), async (store) => {
    assert.equal((await store.finishAppend("k")).etag, "done");
    assert.equal((await store.finishAppend("k")).etag, "done");
  });
});

test("append: more pieces than S3 joins are refused and said so, and nothing is put", async () => {
  const pieces = inARow(Array.from({ length: 10_000 }, () => 5 * mebibyte));
  let puts = 0;
  const answer = (incoming: IncomingMessage, response: ServerResponse): void => {
    puts += Number(incoming.method === "PUT");
    incoming.resume().on("end", () => response.writeHead(200, { etag: '"e"' }).end());
  };
  const body = (): Readable => Readable.from([Buffer.from("x")]);
  await withServer(bucketOf(pieces, answer), async (store) => {
    const appending = store.append("k", 50_000 * mebibyte, body());
    await assert.rejects(appending, (error) => {
      assert.ok(error instanceof ObjectTooLargeError);
      assert.match(error.message, /10000 pieces/);
      return true;
    });
  });
  assert.equal(puts, 0);
  await withServer(bucketOf(pieces.slice(1), answer), async (store) => {
    await assert.rejects(store.append("k", 50_000 * mebibyte, body()), { name: "OffsetError" });
  });
  await withServer(bucketOf(pieces.slice(0, -1), answer), async (store) => {
    const end = 49_995 * mebibyte;
    assert.equal(await store.append("k", end, body()), end + 1);
  });
  assert.equal(puts, 1);
});
