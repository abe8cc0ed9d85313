import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after, test } from "node:test";
import { sql } from "kysely";
import { z } from "zod";
import { PortableRecording } from "../../../contract/recordings/portable.ts";
import { snapshot } from "../../../test/support/api-snapshot.ts";
import { call, startTestApp } from "../../../test/support/app.ts";
import { freePort } from "../../../test/support/port.ts";
import { insertRun } from "../imports/runs/queries.ts";
import { runImport } from "../imports/runs/run.ts";
import { parleyFolder } from "../imports/sources/parley-folder.ts";
import { makeFullWorkspace, makeTwin } from "../imports/test/full-workspace.ts";
import { verifyExport } from "./verify.ts";
import { exportWorkspace } from "./write.ts";

const source = await startTestApp({ port: await freePort() });
const target = await startTestApp();
const folder = mkdtempSync(join(tmpdir(), "parley-export-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const workspace = await makeFullWorkspace(source);

const write = (to = folder, vcon = false) =>
  exportWorkspace({ db: source.db, store: source.store, baseUrl: "http://parley.test" }, to, {
    workspace: { id: workspace.id, name: "Source" },
    vcon,
  });

async function importInto(twin: { id: string; admin: { id: string } }, path = folder) {
  const from = await parleyFolder(path);
  const row = await insertRun(target.db.kysely, {
    workspaceId: twin.id,
    createdBy: twin.admin.id,
    source: from.kind,
    origin: from.origin,
    token: null,
    isDryRun: false,
  });
  return runImport(target, row, from);
}

test("an export has a complete folder per recording, is resumed and only rewrites what has changed", async () => {
  const first = await write();
  assert.deepEqual([first.recordings, first.unchanged], [3, 0]);
  const [id = ""] = readdirSync(folder).filter((name) => /^[0-9a-f]{8}-/.test(name));
  assert.deepEqual(readdirSync(join(folder, id)).sort(), [
    "chapters.vtt",
    "metadata.json",
    "transcript.json",
    "transcript.md",
    "transcript.txt",
    "transcript.vtt",
    "word-times.json",
  ]);
  assert.match(
    readFileSync(join(folder, id, "chapters.vtt"), "utf8"),
    /^WEBVTT\n\n1\n00:00:00\.000 --> \d\d:\d\d:\d\d\.\d{3}\nGut &amp; &lt;so&gt;\n$/,
  );
  assert.match(
    readFileSync(join(folder, id, "transcript.md"), "utf8"),
    /## Chapters\n\n- 00:00:00 Gut & \\<so\\>\n/,
  );
  assert.match(
    readFileSync(join(folder, id, "transcript.md"), "utf8"),
    /^# Renewal \\<b\\> & \\\*more\\\*\n/,
  );
  assert.deepEqual((await verifyExport(folder)).problems, []);
  const again = await write();
  assert.deepEqual([again.recordings, again.unchanged, again.bytes], [3, 3, 0]);
  // A run that was killed leaves a folder that is not complete, and no list.
  rmSync(join(folder, "export.json"));
  await assert.rejects(verifyExport(folder), { message: /has no export\.json/ });
  writeFileSync(join(folder, `.partial-${id}`), "");
  rmSync(join(folder, id), { recursive: true });
  const resumed = await write();
  assert.deepEqual([resumed.recordings, resumed.unchanged], [3, 2]);
  await sql`update recordings set title = 'Clip' where title = 'Video'`.execute(source.db.kysely);
  assert.equal((await write()).unchanged, 2);
  await sql`update recordings set title = 'Video' where title = 'Clip'`.execute(source.db.kysely);
  await write();
  await assert.rejects(
    exportWorkspace({ db: source.db, store: source.store, baseUrl: "http://parley.test" }, folder, {
      workspace: { id: crypto.randomUUID(), name: "Other" },
      vcon: false,
    }),
    { message: /has an export of another workspace/ },
  );
});

test("docs/recording.schema.json is the schema of metadata.json", () => {
  const path = new URL("../../../docs/recording.schema.json", import.meta.url);
  const schema = z.toJSONSchema(PortableRecording);
  if (process.env.UPDATE_DOCS) writeFileSync(path, `${JSON.stringify(schema, null, 2)}\n`);
  assert.deepEqual(
    JSON.parse(readFileSync(path, "utf8")),
    JSON.parse(JSON.stringify(schema)),
    "run UPDATE_DOCS=1 npm test server/connections/exports",
  );
});

test("verify reports each missing and damaged file", async () => {
  const copy = mkdtempSync(join(tmpdir(), "parley-export-"));
  after(() => rmSync(copy, { recursive: true, force: true }));
  await write(copy, true);
  const ids = readdirSync(copy).filter((name) => /^[0-9a-f]{8}-/.test(name));
  const withMedia = ids.find((id) => readdirSync(join(copy, id)).includes("media.mp4")) ?? "";
  const vcon = JSON.parse(readFileSync(join(copy, withMedia, "vcon.json"), "utf8"));
  assert.equal(vcon.dialog[0].filename, "media.mp4");
  assert.match(vcon.dialog[0].content_hash, /^sha512-[\w-]{86}$/);
  const path = join(copy, withMedia, "media.mp4");
  const bytes = readFileSync(path);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  rmSync(path);
  writeFileSync(path, bytes);
  rmSync(join(copy, ids[0] ?? "", "transcript.vtt"));
  writeFileSync(join(copy, ids[2] ?? "", "metadata.json"), "{}");
  const { problems } = await verifyExport(copy);
  assert.equal(problems.length, 3, problems.join("\n"));
  assert.ok(problems.includes(`${ids[0]}/transcript.vtt: is missing`));
});

test("a media file that is damaged or missing is reported, and the other recordings are exported", async () => {
  const copy = mkdtempSync(join(tmpdir(), "parley-export-"));
  after(() => rmSync(copy, { recursive: true, force: true }));
  const { rows } = await sql<{ id: string; format: string }>`
    select recording_id as id, format from recording_media`.execute(source.db.kysely);
  const [first, second] = rows.map(({ id, format }) => ({ id, key: `recordings/${id}/media.${format}` }));
  assert.ok(first && second);
  const kept = await Promise.all(
    [first, second].map(async ({ key }) => Buffer.concat(await (await source.store.get(key)).body.toArray())),
  );
  await source.store.delete(first.key);
  await source.store.put(second.key, Readable.from([Buffer.from("damaged")]));
  const { recordings, problems } = await write(copy);
  for (const [index, { key }] of [first, second].entries())
    await source.store.put(key, Readable.from([kept[index] ?? Buffer.alloc(0)]));
  assert.equal(recordings, 1);
  assert.deepEqual(
    [...problems].sort(),
    [
      `${first.id}: its media file is missing from the store`,
      `${second.id}: its media file has other content than when it was stored`,
    ].sort(),
  );
  assert.equal((await write(copy)).recordings, 3);
});

test("importing an export elsewhere gives the same API results in both versions, with media and notes", async () => {
  const twin = await makeTwin(target, workspace);
  const result = await importInto(twin);
  assert.deepEqual(result, { done: 3, failed: 0, pending: 0, omitted: {} });
  for (const name of ["member", "colleague"] as const) {
    const before = await snapshot(source, workspace[name].token, { media: true });
    const now = await snapshot(target, twin.users[name]?.token ?? "", { media: true });
    assert.deepEqual(now, before);
  }
  const { body } = await call(
    target,
    "POST",
    "/recordings",
    { include: { private_notes: true }, filter: { title_search: "Renewal" } },
    { token: twin.users.member?.token ?? "" },
  );
  assert.equal(body.recordings[0].private_notes.text, "Mine *alone*");
  const moved = await sql`
    select ai_chapters, chapters_by_hand from recordings where id = ${body.recordings[0].id}`.execute(
    target.db.kysely,
  );
  assert.deepEqual(moved.rows, [
    { ai_chapters: [{ title: "Gut & <so>", start: 0, quote: "Gut" }], chapters_by_hand: true },
  ]);
  const { body: comments } = await call(
    target,
    "GET",
    `/_/api/v1/recordings/${body.recordings[0].id}/comments`,
    undefined,
    { token: twin.users.member?.token ?? "", version: null },
  );
  const [root, reply, ...others] = comments.comments;
  const colleagueId = twin.users.colleague?.id ?? "";
  assert.deepEqual(
    [root.author.id, root.text, root.timestamp, root.mentions[0].id, root.reactions, root.resolved_by.id],
    [
      ...[twin.users.member?.id, "@Colleague **see**", 1000, colleagueId],
      ...[[{ emoji: "🎉", user_ids: [colleagueId] }], colleagueId],
    ],
  );
  assert.deepEqual(
    [reply.author.id, reply.text, reply.parent_id, others],
    [colleagueId, "Seen", root.id, []],
  );
  const notified = await sql`select 1 from notifications n join users u on u.id = n.user_id
    where u.workspace_id = ${twin.id} and n.kind in ('mentioned', 'replied')`.execute(target.db.kysely);
  assert.deepEqual(notified.rows, [], "nobody is notified of them again");
  const times = await sql<{ word_times: number[] }>`
    select word_times from transcript_segments where recording_id = ${body.recordings[0].id} and position = 0`.execute(
    target.db.kysely,
  );
  assert.equal(times.rows[0]?.word_times.length, 10);
  // What only the promotion needed is gone, and a second run imports nothing.
  const { rows } = await sql<{ left: number; items: number }>`
    select (select count(*)::integer from uploads where import_data ? 'moved') as left,
      (select count(*)::integer from import_items where state = 'done') as items`.execute(target.db.kysely);
  assert.deepEqual(rows, [{ left: 0, items: 3 }]);
  assert.deepEqual(await importInto(twin), { done: 0, failed: 0, pending: 0, omitted: {} });
  // What was deleted here is not imported again.
  await call(target, "DELETE", `/_/api/v1/recordings/${body.recordings[0].id}`, undefined, {
    token: twin.admin.token,
    version: null,
  });
  await importInto(twin);
  const { body: left } = await call(target, "POST", "/recordings", {}, { token: twin.token });
  assert.equal(left.recordings.length, 2);
});

test("times that can't be stored are counted, and their recordings, highlights and comments are imported", async () => {
  const copy = mkdtempSync(join(tmpdir(), "parley-export-"));
  after(() => rmSync(copy, { recursive: true, force: true }));
  await write(copy);
  // An email belongs to one workspace of an installation.
  const elsewhere = (text: string) => text.replaceAll(workspace.domain, `never.${workspace.domain}`);
  const { member, colleague } = workspace;
  const twin = await makeTwin(target, {
    ...workspace,
    member: { ...member, email: elsewhere(member.email) },
    colleague: { ...colleague, email: elsewhere(colleague.email) },
  });
  const files = readdirSync(copy)
    .map((name) => join(copy, name, "metadata.json"))
    .filter((file) => existsSync(file));
  for (const file of files) {
    const text = elsewhere(readFileSync(file, "utf8"));
    rmSync(file);
    writeFileSync(file, text);
  }
  const path = files.find((file) => JSON.parse(readFileSync(file, "utf8")).comments.length > 0) ?? "";
  const metadata = JSON.parse(readFileSync(path, "utf8"));
  const never = "0000-01-01T00:00:00.000Z";
  const [root, reply] = metadata.comments;
  Object.assign(root, { created_datetime: never, resolved_datetime: never });
  Object.assign(reply, { edited_datetime: never, text: `${"a".repeat(4999)}😀 and more` });
  metadata.highlights[0].created_datetime = never;
  Object.assign(metadata.participants[0], {
    observed_join_time: metadata.end_datetime,
    observed_leave_time: metadata.start_datetime,
  });
  metadata.ai_action_items = [
    { status: "pending", timestamp: 0, text: "Once", due_date: "0000-02-03", participant_id: null },
  ];
  writeFileSync(path, JSON.stringify(metadata));
  assert.deepEqual(await importInto(twin, copy), {
    ...{ done: 3, failed: 0, pending: 0 },
    omitted: { unreadable_times: 6 },
  });
  const { rows } = await sql`
    select r.start_datetime = h.created_at as highlight, r.start_datetime = c.created_at as root,
      c.resolved_at is not null as resolved, reply.edited_at, length(reply.text) as length
    from recordings r join highlights h on h.recording_id = r.id
      join comments c on c.recording_id = r.id and c.parent_id is null
      join comments reply on reply.parent_id = c.id
    where r.workspace_id = ${twin.id}`.execute(target.db.kysely);
  assert.deepEqual(rows, [{ highlight: true, root: true, resolved: true, edited_at: null, length: 4999 }]);
});

test("users without an account here are counted, and the admin owns their recordings", async () => {
  const twin = await makeTwin(target, workspace, []);
  const from = await parleyFolder(folder);
  const run = {
    workspaceId: twin.id,
    createdBy: twin.admin.id,
    source: from.kind,
    origin: from.origin,
    token: null,
  };
  const dry = await insertRun(target.db.kysely, { ...run, isDryRun: true });
  assert.equal((await runImport(target, dry, from)).done, 0);
  const { rows } = await sql<{ counts: object; state: string }>`
    select counts, state from import_runs where id = ${dry.id}`.execute(target.db.kysely);
  assert.deepEqual(rows, [
    {
      counts: {
        recordings: 3,
        video: 1,
        audio: 1,
        transcript: 1,
        existing: 0,
        // A dry run also counts what the run would leave out.
        without_recorders_without_user: 3,
        without_shares_without_user: 1,
        without_private_notes_without_user: 1,
        without_comments: 2,
      },
      state: "done",
    },
  ]);
  const row = await insertRun(target.db.kysely, { ...run, isDryRun: false });
  const result = await runImport(target, row, from);
  assert.deepEqual(result, {
    done: 3,
    failed: 0,
    pending: 0,
    omitted: {
      recorders_without_user: 3,
      shares_without_user: 1,
      private_notes_without_user: 1,
      comments: 2,
    },
  });
  const { body } = await call(target, "POST", "/recordings", {}, { token: twin.token });
  for (const recording of body.recordings) assert.equal(recording.recorders[0].id, twin.admin.id);
});

test("damaged files and links fail their recordings alone", async () => {
  const [id = "", changed = "", linked = ""] = readdirSync(folder).filter((name) =>
    /^[0-9a-f]{8}-/.test(name),
  );
  const path = join(folder, id, "metadata.json");
  assert.ok(statSync(path).size > 0);
  writeFileSync(path, '{"format":"parley-recording"');
  appendFileSync(join(folder, changed, "transcript.json"), " ");
  const transcript = join(folder, linked, "transcript.json");
  renameSync(transcript, `${transcript}.old`);
  symlinkSync(`${transcript}.old`, transcript);
  const twin = await makeTwin(target, workspace, []);
  const from = await parleyFolder(folder);
  const row = await insertRun(target.db.kysely, {
    workspaceId: twin.id,
    createdBy: twin.admin.id,
    source: from.kind,
    origin: from.origin,
    token: null,
    isDryRun: false,
  });
  const { done, failed } = await runImport(target, row, from);
  assert.deepEqual([done, failed], [0, 3]);
});
