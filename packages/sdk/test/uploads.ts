/**
 * Uploads that were interrupted or go wrong. Arguments: ids of uploads of MEETING: begun; begun, its URL expired; not begun,
 * its URL expired; failed.
 */
import assert from "node:assert/strict";
import { openAsBlob } from "node:fs";
import { mock } from "node:test";
import { Parley, UploadFailedError } from "parley-sdk";

const { PARLEY_URL = "", PARLEY_TOKEN = "", MEETING = "" } = process.env;
const [, , begun = "", expired = "", neverBegun = "", failed = ""] = process.argv;
const file = await openAsBlob(MEETING);

// At first no request leaves the program; waits are noted and skipped.
const waits: number[] = [];
const skipped = mock.method(globalThis, "setTimeout", (callback: () => void, ms: number) => {
  waits.push(ms);
  setImmediate(callback);
});

/** A server whose upload URL responds as `respond` says. */
function brokenServer(respond: (count: number) => Response): {
  parley: Parley;
  methods: string[];
} {
  const methods: string[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const upload = { max_upload_bytes: 1e9, tus_url: "http://parley.test/tus" };
    if (!request.url.endsWith("/tus"))
      return Response.json({ id: "upload", status: "awaiting", media: { status: "awaiting", upload } });
    methods.push(request.method);
    return respond(methods.length);
  };
  return { parley: new Parley({ baseUrl: "http://parley.test", token: "t", fetch }), methods };
}

// A server that accepts chunks and stores nothing of them is not asked without end.
const stuck = brokenServer(
  () => new Response(null, { headers: { "upload-offset": "0", "upload-length": String(file.size) } }),
);
waits.length = 0;
await assert.rejects(stuck.parley.uploadFile(file), /stored nothing/);
assert.ok(stuck.methods.length < 30, stuck.methods.join());
assert.equal(waits.length, 8);

// A busy server is asked again when it says, unless that is too late.
const busy = brokenServer((count) =>
  count < 3
    ? new Response(null, { status: 503, headers: { "retry-after": "30" } })
    : new Response(null, {
        headers: { "upload-offset": String(file.size), "upload-length": String(file.size) },
      }),
);
waits.length = 0;
await busy.parley.uploadFile(file);
assert.deepEqual(waits, [30_000, 30_000]);
const busyForHours = brokenServer(
  () => new Response(null, { status: 503, headers: { "retry-after": "7200" } }),
);
await assert.rejects(busyForHours.parley.uploadFile(file), { status: 503, retryAfterMs: 7_200_000 });
assert.equal(busyForHours.methods.length, 1);

skipped.mock.restore();
const parley = new Parley({ baseUrl: PARLEY_URL, token: PARLEY_TOKEN });

// Files that are shorter than what has arrived, shorter than announced, and longer.
for (const other of [file.slice(0, 10_000), file.slice(0, 45_000), new Blob([file, "more"])]) {
  await assert.rejects(
    parley.uploadFile(other, { resume: begun }),
    (error) => error instanceof RangeError && /the file has \d+ bytes.*same file/.test(error.message),
  );
  assert.equal((await parley.getUpload({ upload_id: begun })).status, "awaiting");
}
await parley.uploadFile(file, { resume: begun });
assert.notEqual((await parley.getUpload({ upload_id: begun })).status, "awaiting");

// The rest of a file is accepted when the URL has expired, and nothing else is.
await parley.uploadFile(file, { resume: expired });
assert.notEqual((await parley.getUpload({ upload_id: expired })).status, "awaiting");
for (const [resume, reason] of [
  [neverBegun, /URL has expired/],
  [failed, /the file is empty/],
] as const)
  await assert.rejects(
    parley.uploadFile(file, { resume }),
    (error) => error instanceof UploadFailedError && reason.test(error.message),
  );

// An MP3 is recognized by its content: with ID3, and without it.
for (const media of [file, file.slice(await startOfSound()), new Blob([new Uint8Array([0, 0, 0, 32])])]) {
  const interrupt = new AbortController();
  const types: string[] = [];
  await assert.rejects(
    parley.uploadFile(media, {
      signal: interrupt.signal,
      onCreate: ({ media_type }) => {
        types.push(media_type);
        interrupt.abort(new Error("enough"));
      },
    }),
    /enough/,
  );
  assert.deepEqual(types, [media.size === 4 ? "video" : "audio"]);
}

/** Where the frames of MEETING begin, after its ID3. */
async function startOfSound(): Promise<number> {
  const [, , , , , , a = 0, b = 0, c = 0, d = 0] = new Uint8Array(await file.slice(0, 10).arrayBuffer());
  return 10 + (a << 21) + (b << 14) + (c << 7) + d;
}

process.stdout.write("uploads checked\n");
