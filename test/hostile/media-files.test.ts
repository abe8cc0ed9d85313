import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { encodeFile, writeAmr } from "../../server/processing/media/test/encode.ts";
import { testFormats } from "../../server/processing/media/test/formats.ts";
import { mutations } from "../../server/processing/media/validate/test/mutate.ts";
import { seeded } from "../../server/processing/media/validate/test/random.ts";
import { dataTools } from "../../server/recordings/recordings/test/recordings.ts";
import { formatOf } from "../../shared/files/media-formats.ts";
import { startTestApp } from "../support/app.ts";
import { makeWorkspace } from "../support/factories.ts";
import { isFullRun } from "../support/full.ts";
import { until } from "../support/until.ts";

const app = await startTestApp();
const { manage } = dataTools(app);
const { member } = await makeWorkspace(app.db);
const folder = mkdtempSync(join(tmpdir(), "parley-hostile-media-"));
after(() => rmSync(folder, { recursive: true }));

interface HostileFile {
  readonly name: string;
  readonly content: Buffer;
  /** Nothing is wrong with it. */
  readonly isWhole: boolean;
}

/** A file of each format, whole, cut off and damaged; of one format unless the run takes its time. */
function* damagedFiles(): Generator<HostileFile> {
  const random = seeded(18);
  for (const [name, file] of [...Object.entries(testFormats), ["voice.amr", null] as const]) {
    if (!isFullRun && name !== "pcm.wav") continue;
    const path = join(folder, "file");
    if (file === null) writeAmr(path);
    else encodeFile(path, file);
    const whole = readFileSync(path);
    const cut = (share: number) => whole.subarray(0, Math.floor(whole.length * share));
    yield { name, content: whole, isWhole: true };
    for (const [kind, content] of [
      ["cut at half", cut(0.5)],
      ["cut before its end", cut(0.98)],
      ["damaged", mutations["bits flipped anywhere"]?.(Buffer.from(whole), random) ?? whole],
    ] as const)
      yield { name: `${kind} ${name}`, content, isWhole: false };
  }
}

/** Files that were never media, or that say something else than they hold. */
function* falseFiles(): Generator<HostileFile> {
  const riff = Buffer.from("RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0\x01\0\xff\xff\xff\xff\xff\xff", "latin1");
  const box = Buffer.from(
    "\0\0\0\x18ftypisom\0\0\0\0isommp42\0\0\0\x01mdat\xff\xff\xff\xff\xff\xff\xff\xff",
    "latin1",
  );
  const matroska = Buffer.from("1a45dfa3ffffffffffffffff", "hex");
  for (const [name, content] of [
    ["one byte.mp4", Buffer.from("x")],
    ["zeros.mkv", Buffer.alloc(200_000)],
    ["text.webm", Buffer.from("WEBVTT\n\n".repeat(9000))],
    ["endless sizes.wav", riff],
    ["endless box.mov", box],
    ["endless element.mkv", matroska],
    ["list of files.avi", Buffer.from("ffconcat version 1.0\nfile /etc/passwd\nfile http://127.0.0.1:9/x\n")],
    [
      "playlist.mp3",
      Buffer.from("#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:10,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n"),
    ],
  ] as const)
    yield { name, content, isWhole: false };
}

const token = member.token;

/** Sends a file. @returns the import's id; null: it was refused. */
async function send({ name, content }: HostileFile): Promise<string | null> {
  const media = { format: formatOf(name), name };
  const { body, status, text } = await manage("POST", "/recordings", token, { media, title: name });
  assert.equal(status, 200, text);
  const { status: sent } = await fetch(body.upload.url.replace("http://parley.test", app.url), {
    method: "PUT",
    headers: body.upload.headers,
    body: content,
  });
  assert.ok(sent < 500, `${name}: ${sent}`);
  return sent < 300 ? body.id : null;
}

test(`${isFullRun ? "more than 60" : "some"} files, whole, cut off, damaged and false: each ends, with a reason where it fails`, async () => {
  const files = [...falseFiles(), ...damagedFiles()];
  if (isFullRun) assert.ok(files.length > 60);
  const sent: [HostileFile, string][] = [];
  for (const file of files) {
    const id = await send(file);
    if (id !== null) sent.push([file, id]);
  }
  assert.ok(sent.length >= files.length - 1);
  for (const [{ name, isWhole }, id] of sent) {
    const { status, failure } = await until(
      `${name} has ended`,
      async () => {
        const { body } = await manage("GET", `/imports/${id}`, token);
        return ["success", "failure"].includes(body.status) && body;
      },
      300_000,
    );
    if (isWhole) assert.equal(status, "success", `${name}: ${failure?.reason}`);
    // In words for the user, and nothing of the server.
    if (status === "failure") assert.match(failure.reason, /^[A-Z][^\n]{10,400}$/, name);
    assert.doesNotMatch(failure?.reason ?? "", /\/tmp\/|node:|Error:|passwd/, name);
  }
  const { rows } = await app.db.pool.query(
    "select name, count(*) from jobs where attempts > 1 group by name",
  );
  assert.deepEqual(rows, [], "no job had to be repeated");
});
