import assert from "node:assert/strict";
import {
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { call, olderVersion } from "../support/call.ts";
import { startHookReceiver } from "../support/hook-receiver.ts";
import { createLibrary, failing, failureOf, segments } from "../support/library.ts";
import { noS3Server, startS3Server } from "../support/s3-server.ts";
import { killAtLine, parley, prepareServer, type ServerProcess } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const folder = mkdtempSync(join(tmpdir(), "parley-backups-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const env = { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" };
const server = await prepareServer({ env });
after(() => server.dispose());
await server.start();
const library = await createLibrary(server);
const { token, upload, uploadMedia } = library;
const readAll = (from: ServerProcess) => library.readAll(from);

/** A new installation, stopped, into which backups are restored. */
async function prepareTarget(env: Record<string, string> = {}): Promise<ServerProcess> {
  const target = await prepareServer({ isEmpty: true, env });
  after(() => target.dispose());
  return target;
}

function filesBelow(path: string): string[] {
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .map((name) => join(path, name))
    .filter((name) => statSync(name).isFile())
    .sort();
}

function flipByte(path: string): () => void {
  const before = readFileSync(path);
  const file = openSync(path, "r+");
  const at = Math.floor(before.length / 2);
  writeSync(file, Buffer.from([(before[at] ?? 0) ^ 0xff]), 0, 1, at);
  return () => writeFileSync(path, before);
}

await uploadMedia();
await uploadMedia();
for (let index = 0; index < 10; index++) await upload(`Before ${index}`);
await until("everything is promoted", async () => (await library.titles()).length === 12);
const empty = await prepareTarget();
const restored = await prepareTarget(env);
const receiver = await startHookReceiver();
const { status, text } = await call(
  server,
  "POST",
  "/hooks/create",
  { hook_type: "recording_added", hook_url: receiver.url },
  { token, version: olderVersion },
);
assert.equal(status, 200, text);

test("under write load, killed in each phase: nothing half-done looks complete, and a restore has everything acknowledged", async () => {
  const destination = join(folder, "plain");
  for (const phase of ["database", "files"]) {
    const isMoment = (line: string): boolean => line.includes(`"phase":"${phase}"`);
    const kill = async (attempts: number): Promise<string> => {
      assert.ok(await killAtLine(server, ["backup", destination, "--json"], isMoment));
      const outcome = await parley(server, "backup", "verify", destination).catch(({ stderr }) => stderr);
      if (attempts === 1 || /there is no backup/.test(outcome)) return outcome;
      // It was complete before the signal arrived.
      rmSync(destination, { recursive: true });
      return kill(attempts - 1);
    };
    assert.match(await kill(5), /there is no backup/);
  }
  const acknowledged: string[] = [];
  let isWriting = true;
  const writing = (async () => {
    for (let index = 0; isWriting; index++) {
      const title = `During ${index}`;
      await upload(title);
      acknowledged.push(title);
      // Each is read again five times.
      await delay(50);
    }
  })();
  await until("there is load", () => acknowledged.length > 2 || undefined);
  const before = [...acknowledged];
  const id = await parley(server, "backup", destination);
  isWriting = false;
  await writing;
  assert.equal((await parley(server, "backup", "list", destination)).split(" ")[0], id);
  await parley(server, "backup", "verify", destination);
  await parley(restored, "restore", destination);
  await restored.start();
  // What was in progress continues under the same ids.
  await until("everything acknowledged before the backup is there", async () => {
    const titles = new Set(await library.titles(restored));
    return before.every((title) => titles.has(title));
  });
  // Those that were promoted after the backup have other times in either.
  const readStable = async (from: ServerProcess) =>
    [...(await readAll(from))].filter(([title]) => !title.startsWith("During "));
  assert.deepEqual(await readStable(restored), await readStable(server));
  await parley(restored, "audit", "verify");
  assert.match(
    await failing(restored, "restore", destination),
    /a server is using|already has an installation|in use/,
  );
});

async function quarantineOf(of: ServerProcess): Promise<{ backup: string } | null> {
  const response = await fetch(`${of.url}/_/api/v1/session/me`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return ((await response.json()) as { quarantine: { backup: string } | null }).quarantine;
}

test("a restored installation is quarantined: nothing is sent until it is accepted", async () => {
  const received = (id: string): boolean => receiver.requests.some(({ body }) => String(body).includes(id));
  const created = await call(
    restored,
    "POST",
    "/uploads/create",
    { media_type: "transcript", attributes: { title: "After", transcript: { language: "en", segments } } },
    { token },
  );
  assert.equal(created.status, 200);
  const recording: string = await until("it is promoted", async () => {
    const { body } = await call(restored, "POST", `/uploads/${created.body.id}`, {}, { token });
    return body.recording_id ?? undefined;
  });
  await delay(2000);
  assert.ok(!received(recording));
  const [id] = readdirSync(join(folder, "plain", "backups"));
  assert.equal((await quarantineOf(restored))?.backup, id);
  await parley(restored, "restore", "accept");
  assert.equal(await quarantineOf(restored), null);
  await until("it is sent", () => received(recording) || undefined, 30_000);
  assert.equal(await restored.stop(), 0);
});

/** Checks every file of the newest backup, as before a restore. */
async function check(destination: string): Promise<void> {
  await parley(empty, "restore", destination, "--dry-run");
}

test("a second backup copies only what is new, and prune removes what nothing needs", async () => {
  const destination = join(folder, "again");
  const run = async () =>
    JSON.parse((await parley(server, "backup", destination, "--json")).split("\n").at(-1) ?? "");
  const first = await run();
  const files = filesBelow(join(destination, "objects"));
  assert.ok(first.copied_bytes > 0 && files.length === first.files);
  const second = await run();
  assert.equal(second.files, first.files);
  const objectBytes = files.reduce((sum, path) => sum + statSync(path).size, 0);
  assert.equal(second.copied_bytes, second.bytes - objectBytes, "only tables are copied again");
  assert.deepEqual(filesBelow(join(destination, "objects")), files);
  const recording = await uploadMedia();
  await run();
  // Into the trash, and out of it for good.
  for (const path of ["recordings", "trash"]) {
    const removed = await fetch(`${server.url}/_/api/v1/${path}/${recording}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${token}` },
    });
    assert.equal(removed.status, 200);
  }
  await delay(1100);
  const last = await run();
  assert.ok(filesBelow(join(destination, "objects")).length > files.length);
  const pruned = JSON.parse(await parley(server, "backup", "prune", destination, "--keep", "1d", "--json"));
  assert.deepEqual([pruned.kept, pruned.removed.length], [[last.id], 3]);
  assert.deepEqual(filesBelow(join(destination, "objects")), files);
  await check(destination);
});

test("one flipped byte in any part: verify and restore name it, and restore changes nothing", async () => {
  const destination = join(folder, "flipped");
  const id = await parley(server, "backup", destination);
  const parts = filesBelow(destination);
  const chosen = [
    "/media.mp3/",
    "manifest.",
    "objects.jsonl",
    "tables/users",
    "tables/transcript_segments",
    "/installation",
  ].map((text) => parts.find((path) => path.includes(text)) ?? assert.fail(text));
  for (const path of chosen) {
    const restoreByte = flipByte(path);
    const name = path.slice(destination.length + 1);
    for (const command of [
      ["backup", "verify", destination],
      ["restore", destination, "--at", id, "--dry-run"],
      ["restore", destination, "--at", id],
    ] as const)
      assert.ok((await failing(empty, ...command)).includes(name), `${command.join(" ")} names ${name}`);
    restoreByte();
  }
  // Into a database and a store that are still empty.
  await parley(empty, "restore", destination, "--dry-run");
});

test("prune with a damaged manifest or list of files: removes old backups, no files, and names the remedy; --remove-damaged removes the backup", async () => {
  const destination = join(folder, "prune-damaged");
  const run = () => parley(server, "backup", destination);
  const prune = ["backup", "prune", destination, "--keep", "1d", "--json"] as const;
  // All of today: the rule keeps the newest intact one.
  const old = await run();
  const kept = await run();
  const files = filesBelow(join(destination, "objects"));
  await uploadMedia();
  const newest = await run();
  const allFiles = filesBelow(join(destination, "objects"));
  assert.ok(allFiles.length > files.length);
  for (const part of ["manifest.", "objects.jsonl"]) {
    const path =
      filesBelow(join(destination, "backups", newest)).find((name) => name.includes(part)) ??
      assert.fail(part);
    const restoreByte = flipByte(path);
    const message = await failing(server, ...prune);
    assert.match(message, /^parley: backups\/.* is damaged: .*`--remove-damaged`\n$/);
    assert.ok(message.includes(path.slice(destination.length + 1)), message);
    assert.deepEqual(readdirSync(join(destination, "backups")), [kept, newest]);
    assert.deepEqual(filesBelow(join(destination, "objects")), allFiles);
    restoreByte();
  }
  assert.ok(!readdirSync(join(destination, "backups")).includes(old));
  const path = filesBelow(join(destination, "backups", newest)).find((name) => name.includes("manifest."));
  flipByte(path ?? "");
  assert.ok((await failing(server, "backup", "list", destination)).includes("/manifest."));
  const result = JSON.parse(await parley(server, ...prune, "--remove-damaged"));
  assert.deepEqual([result.kept, result.removed], [[kept], [newest]]);
  assert.deepEqual(filesBelow(join(destination, "objects")), files);
  await check(destination);
  // Without an intact backup, nothing is removed.
  flipByte(filesBelow(join(destination, "backups", kept)).find((name) => name.includes("manifest.")) ?? "");
  assert.match(
    await failing(server, ...prune, "--remove-damaged"),
    /no backup is intact.*Nothing was removed/,
  );
  assert.deepEqual(readdirSync(join(destination, "backups")), [kept]);
});

const passphrase = { PARLEY_BACKUP_PASSPHRASE: "an ordinary passphrase" };

test("an encrypted backup shows nothing without its passphrase and restores with it", async () => {
  const destination = join(folder, "encrypted");
  await parley({ env: { ...server.env, ...passphrase } }, "backup", destination);
  for (const path of filesBelow(destination).filter((name) => !name.endsWith("/installation")))
    assert.match(readFileSync(path, "latin1").slice(0, 21), /^age-encryption\.org\/v1/, path);
  assert.match(await failing(server, "backup", "list", destination), /set PARLEY_BACKUP_PASSPHRASE/);
  const decrypted = await prepareTarget({ ...env, ...passphrase });
  await parley(decrypted, "restore", destination);
  await decrypted.start();
  assert.deepEqual(await readAll(decrypted), await readAll(server));
  await decrypted.stop();
});

test("what is wrong with a destination or the data folder is said in one line", async () => {
  for (const destination of ["s3://bucket/../other", "s3://bucket/a/./b"])
    assert.match(
      await failing(server, "backup", destination),
      /^parley: the prefix of .* must not have the names \. and \.\.,.*\n$/,
    );
  assert.match(
    await failing(server, "backup", "gs://bucket"),
    /^parley: .* neither a folder nor s3:\/\/bucket\/prefix\n$/,
  );
});

const s3 = await startS3Server();
after(() => s3?.stop());

test("to a bucket, and from local files to S3", { skip: s3 === null ? noS3Server : false }, async () => {
  if (s3 === null) return;
  const access = {
    PARLEY_S3_ENDPOINT: s3.endpoint,
    AWS_ACCESS_KEY_ID: s3.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
  };
  const destination = `s3://${await s3.bucket()}/nightly backups/größer+100 %`;
  const source = { env: { ...server.env, ...access } };
  await parley(source, "backup", destination);
  await parley(source, "backup", "verify", destination);
  const missing = await failing(source, "backup", "s3://no-such-bucket/nightly");
  assert.match(missing, /^parley: .* NoSuchBucket.*\. Create the bucket, or correct its name .*\n$/);
  const target = await prepareTarget({
    ...access,
    PARLEY_STORAGE: "s3",
    PARLEY_S3_BUCKET: await s3.bucket(),
  });
  await parley(target, "restore", destination);
  await target.start();
  assert.deepEqual(await readAll(target), await readAll(server));
  await target.stop();
});

test("files that are missing or damaged are named and don't stop the backup; an earlier copy is kept", async () => {
  const destination = join(folder, "damaged");
  const objects = join(server.env.PARLEY_DATA_DIR ?? "", "objects");
  const [gone, lost, short] = [await uploadMedia(), await uploadMedia(), await uploadMedia()].map((id) =>
    join(objects, "recordings", id, "media.mp3"),
  );
  const keyOf = (path = ""): string => path.slice(objects.length + 1);
  await parley(server, "backup", destination, "--json");
  rmSync(gone ?? "");
  const elsewhere = join(folder, "damaged-elsewhere");
  rmSync(lost ?? "");
  writeFileSync(short ?? "", readFileSync(short ?? "").subarray(0, 1000));
  const resultOf = (stdout: string): { damaged: string[] } =>
    JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
  const intact = resultOf(await parley(server, "backup", destination, "--json"));
  assert.deepEqual(intact.damaged, [], "the backup has intact copies of all three");
  const { stdout, code } = await failureOf(server, "backup", elsewhere, "--json");
  assert.equal(code, 3);
  assert.deepEqual(resultOf(stdout).damaged.sort(), [gone, lost, short].map(keyOf).sort());
  const verified = await failureOf(server, "backup", "verify", elsewhere);
  assert.equal(verified.code, 3, verified.stderr);
  for (const key of [gone, lost, short].map(keyOf)) assert.ok(verified.stderr.includes(key), verified.stderr);
  await parley(empty, "restore", destination);
  assert.equal(await parley(empty, "files", "verify"), "");
});
