import assert from "node:assert/strict";
import { test } from "node:test";
import { call, startTestApp } from "../../../test/support/app.ts";
import { makeRecording, makeUser, makeWorkspace } from "../../../test/support/factories.ts";
import { listAllHighlightIds } from "./list-all.ts";

const app = await startTestApp({ env: { PARLEY_PAGE_SIZE: "2" } });

const manage = (method: string, path: string, token: string | null, body?: unknown) =>
  call(app, method, `/_/api/v1${path}`, body, { token, version: null });

async function clip(recordingId: string, token: string, values: object): Promise<string> {
  const { status, body, text } = await manage("POST", `/recordings/${recordingId}/highlights`, token, {
    timestamp: 9000,
    duration: 2000,
    ...values,
  });
  assert.equal(status, 200, text);
  return body.id;
}

async function texts(token: string, query = ""): Promise<string[]> {
  const { status, body, text } = await manage("GET", `/highlights?${query}`, token);
  assert.equal(status, 200, text);
  return body.highlights.map((highlight: { text: string }) => highlight.text);
}

test("list all: pages through visible highlights of every recording, newest first, each once", async () => {
  const { member, ...workspace } = await makeWorkspace(app.db);
  const stranger = await makeWorkspace(app.db);
  const first = await makeRecording(app, member.token, { title: "Harbour" });
  const second = await makeRecording(app, member.token, { title: "Quay" });
  const ids = [
    await clip(first.recordingId, member.token, { text: "one" }),
    await clip(second.recordingId, member.token, { text: "two" }),
    await clip(first.recordingId, member.token, { text: "three" }),
  ].reverse();
  const page = (await manage("GET", "/highlights", member.token)).body;
  assert.deepEqual(
    page.highlights.map(({ id }: { id: string }) => id),
    ids.slice(0, 2),
  );
  const next = (await manage("GET", `/highlights?cursor=${page.cursor}`, member.token)).body;
  assert.deepEqual(
    next.highlights.map(({ id }: { id: string }) => id),
    ids.slice(2),
  );
  assert.equal(next.cursor, null);
  const { recording, can_change, ...rest } = page.highlights[1];
  assert.deepEqual([recording.title, recording.media_type, can_change], ["Quay", "transcript", true]);
  assert.deepEqual(rest, (await manage("GET", `/highlights/${ids[1]}`, member.token)).body);

  assert.deepEqual(await texts(stranger.member.token), []);
  assert.deepEqual(await texts(stranger.token), []);
  const colleague = await makeUser(app.db, workspace);
  assert.deepEqual(await texts(colleague.token), []);
});

test("list all: can_change is what Update Highlight goes by", async () => {
  const workspace = await makeWorkspace(app.db);
  const { member } = workspace;
  const colleague = await makeUser(app.db, workspace);
  const { recordingId } = await makeRecording(app, member.token);
  await call(
    app,
    "PUT",
    `/recordings/${recordingId}/users`,
    { user_id: colleague.id },
    { token: member.token },
  );
  await clip(recordingId, member.token, { text: "of the recorder" });
  await clip(recordingId, colleague.token, { text: "of the colleague" });
  for (const token of [member.token, colleague.token]) {
    const { highlights } = (await manage("GET", "/highlights", token)).body;
    assert.equal(highlights.length, 2);
    for (const { id, can_change } of highlights) {
      const { status } = await manage("PATCH", `/highlights/${id}`, token, { tags: [] });
      assert.equal(status, can_change ? 200 : 403);
    }
  }
});

test("list all: narrows by a part of the text, whatever its case and accents, and by tag; speakers on demand", async () => {
  const { member } = await makeWorkspace(app.db);
  const { recordingId } = await makeRecording(app, member.token, {
    participants: [{ name: "Ana Lima", speaker_key: "s1" }],
  });
  await clip(recordingId, member.token, { text: "Élan 100% vital", tags: ["deal"] });
  await clip(recordingId, member.token, { text: "Something else", tags: ["deal", "risk"] });
  assert.deepEqual(await texts(member.token, "text=ELAN"), ["Élan 100% vital"]);
  assert.deepEqual(await texts(member.token, "text=0%25%20v"), ["Élan 100% vital"]);
  assert.deepEqual(await texts(member.token, "text=_"), []);
  assert.deepEqual(await texts(member.token, "tag=risk"), ["Something else"]);
  assert.deepEqual(await texts(member.token, "tag=deal&text=vital"), ["Élan 100% vital"]);
  const { body } = await manage("GET", "/highlights?include=speakers", member.token);
  assert.deepEqual(body.highlights[0].speakers, ["Ana Lima"]);
});

test("list all: 400 for a tag that can't be and for another list's cursor", async () => {
  const { member } = await makeWorkspace(app.db);
  const { recordingId } = await makeRecording(app, member.token);
  for (const text of ["a", "b", "c"]) await clip(recordingId, member.token, { text });
  const { cursor } = (await manage("GET", `/recordings/${recordingId}/highlights`, member.token)).body;
  assert.equal(
    (await manage("GET", `/highlights?cursor=${cursor}`, member.token)).body.error,
    "invalid_cursor",
  );
  assert.equal((await manage("GET", "/highlights?tag=%20", member.token)).body.error, "invalid_input");
});

test("list all: a page costs the page, however many highlights this and other workspaces have", async () => {
  const workspace = await makeWorkspace(app.db);
  const other = await makeWorkspace(app.db);
  const { pool } = app.db;
  for (const { member } of [workspace, other]) {
    const { recordingId } = await makeRecording(app, member.token);
    await pool.query(
      `insert into highlights (id, recording_id, workspace_id, text, start_ms, duration_ms, created_at)
       select gen_random_uuid(), r.id, r.workspace_id, 'one of many', 0, 1, now() - interval '1 second' * n
       from recordings r, generate_series(1, 20000) n where r.id = $1`,
      [recordingId],
    );
  }
  await pool.query("analyze highlights");
  const { member } = workspace;
  // biome-ignore lint/suspicious/noExplicitAny: the output of EXPLAIN.
  const plans: any[] = [];
  const explaining: typeof pool = Object.create(pool, {
    query: {
      value: async (sql: string, values: unknown[]) => {
        const { rows } = await pool.query(`explain (analyze, buffers, format json) ${sql}`, values);
        plans.push(rows[0]["QUERY PLAN"][0].Plan);
        return pool.query(sql, values);
      },
    },
  });
  const principal = { workspaceId: workspace.id, sees: [member.id] };
  const ask = (after: { at: Date; id: string } | null) =>
    listAllHighlightIds(explaining, principal, {
      after,
      limit: 50,
      text: undefined,
      tag: undefined,
      withLength: false,
    });
  const first = await ask(null);
  const last = first.at(-1);
  assert.ok(last !== undefined && first.length === 50);
  // Far within, too.
  await ask({ at: new Date(last.at.getTime() - 15_000_000), id: last.id });
  for (const plan of plans) {
    const text = JSON.stringify(plan);
    assert.match(text, /highlights_by_workspace/);
    assert.ok(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] < 400, text);
    assert.equal(plan["Actual Rows"], 50);
  }
});
