import assert from "node:assert/strict";
import { test } from "node:test";
import { call } from "../../../../test/support/app.ts";
import { makeRecording, makeUser, makeWorkspace, unknownId } from "../../../../test/support/factories.ts";
import { until } from "../../../../test/support/until.ts";
import { recordEvent } from "../../../people/events/record-event.ts";
import { fanOut } from "../deliveries/fan-out.ts";
import { startManagement } from "../test/management.ts";
import { scanLimit } from "./queries.ts";

const { app, db, stranger, get, happen } = await startManagement({});

interface FeedEvent {
  readonly id: string;
  readonly type: string;
  readonly occurred_datetime: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at any field of the data.
  readonly data: any;
}

/** All events after a cursor, page by page. */
async function readAll(token: string, query = "", from = "") {
  const events: FeedEvent[] = [];
  let cursor = from;
  for (;;) {
    const { status, body, text } = await get(`/events?cursor=${cursor}${query}`, token);
    assert.equal(status, 200, text);
    events.push(...body.events);
    assert.equal(typeof body.cursor, "string");
    if (!body.has_more) return { events, cursor: body.cursor as string };
    assert.notEqual(body.cursor, cursor, "a page always advances");
    cursor = body.cursor;
  }
}

const idsOf = (events: readonly FeedEvent[]): string[] => events.map((event) => event.data.id);

/** Waits until all events are in the feed. */
function settled() {
  return until("all events are processed", async () => {
    const { rows } = await db.pool.query(
      "select 1 from events where id in (select event_id from waiting_events) limit 1",
    );
    return rows.length === 0;
  });
}

test("events in order from the oldest, page by page, and new ones after the end", async () => {
  const workspace = await makeWorkspace(db);
  const nothing = await readAll(workspace.token);
  assert.deepEqual(nothing.events, []);
  const workspaceId = workspace.id;
  const subjects: string[] = [];
  for (let index = 0; index < 5; index++) subjects.push(await happen({ workspaceId }));
  await settled();
  const first = await get("/events?limit=2", workspace.token);
  assert.deepEqual(idsOf(first.body.events), subjects.slice(0, 2));
  assert.equal(first.body.has_more, true);
  const { events, cursor } = await readAll(workspace.token, "&limit=2");
  assert.deepEqual(idsOf(events), subjects);
  assert.deepEqual(idsOf((await readAll(workspace.token, "", nothing.cursor)).events), subjects);
  assert.deepEqual((await readAll(workspace.token, "", cursor)).events, []);
  const next = await happen({ workspaceId });
  await settled();
  assert.deepEqual(idsOf((await readAll(workspace.token, "", cursor)).events), [next]);
  const [event] = events;
  const { rows } = await db.pool.query("select * from events where subject_id = $1", [subjects[0]]);
  assert.deepEqual(event, {
    id: rows[0].event_id,
    type: "recording_deleted",
    occurred_datetime: rows[0].occurred_at.toISOString(),
    data: { id: subjects[0] },
  });
});

test("data is what a hook without include gets, and only the id of a deleted subject", async () => {
  const workspace = await makeWorkspace(db);
  const { recordingId, uploadId } = await makeRecording(app, workspace.member.token, { title: "Harbour" });
  await settled();
  const { events } = await readAll(workspace.token);
  assert.deepEqual(
    events.filter((event) => event.data.id === recordingId).map((event) => [event.type, event.data.title]),
    [["recording_added", "Harbour"]],
  );
  const { body: recording } = await call(
    app,
    "POST",
    `/recordings/${recordingId}`,
    {},
    {
      token: workspace.token,
    },
  );
  assert.deepEqual(
    Object.keys(events.find((event) => event.type === "recording_added")?.data).sort(),
    Object.keys(recording).sort(),
  );
  const uploads = (await readAll(workspace.member.token, "&types=upload_added,upload_updated")).events;
  assert.deepEqual(new Set(idsOf(uploads)), new Set([uploadId]));
  assert.equal(uploads.at(-1)?.data.status, "success");
  assert.equal(uploads.at(0)?.data.attributes, undefined);
  const gone = await happen({
    workspaceId: workspace.id,
    type: "recording_updated",
    data: {},
  });
  const goneStory = await happen({ workspaceId: workspace.id, type: "story_added", data: {} });
  await settled();
  const rest = (await readAll(workspace.token, "&types=recording_updated,story_added")).events;
  assert.deepEqual(
    rest.map((event) => event.data),
    [{ id: gone }, { id: goneStory }],
  );
});

test("scopes: a workspace token reads everything, a user what they can see at this moment, others nothing", async () => {
  const workspace = await makeWorkspace(db);
  const { admin, member } = workspace;
  const other = await makeUser(db, workspace);
  const { recordingId } = await makeRecording(app, member.token);
  const workspaceId = workspace.id;
  const forMember = await happen({ workspaceId, audience: [member.id] });
  const forAll = await happen({
    workspaceId,
    type: "story_deleted",
    audience: [other.id, admin.id, member.id],
  });
  const { rows: deleted } = await db.pool.query(
    "update events set audience = null where subject_id = $1 returning id",
    [forAll],
  );
  assert.equal(deleted.length, 1);
  await settled();
  const types = "&types=recording_added,recording_deleted,story_deleted";
  const read = async (token: string) => idsOf((await readAll(token, types)).events);
  assert.deepEqual(await read(workspace.token), [recordingId, forMember, forAll]);
  assert.deepEqual(await read(member.token), [recordingId, forMember, forAll]);
  assert.deepEqual(await read(other.token), [forAll]);
  assert.deepEqual(await read(stranger.token), []);
  assert.deepEqual(await read(stranger.member.token), []);
  const users = `/recordings/${recordingId}/users`;
  await call(app, "PUT", users, { user_id: other.id }, { token: member.token });
  assert.deepEqual(await read(other.token), [recordingId, forAll]);
  await call(app, "DELETE", `${users}/${other.id}`, undefined, { token: member.token });
  assert.deepEqual(await read(other.token), [forAll], "and no more once it is unshared");
  assert.equal((await get("/events", "")).status, 401);
});

test("a page advances even if most of its events are skipped", async () => {
  const workspace = await makeWorkspace(db);
  await db.pool.query(
    `insert into events (event_id, workspace_id, type, subject_id, audience, data)
     select gen_random_uuid(), $1, 'story_deleted', gen_random_uuid(), '{}', '{}'
     from generate_series(1, $2::integer)`,
    [workspace.id, scanLimit],
  );
  const wanted = await happen({ workspaceId: workspace.id, audience: [workspace.member.id] });
  await settled();
  for (const [token, query] of [
    [workspace.token, "&types=recording_deleted"],
    [workspace.member.token, ""],
  ] as const) {
    const { body } = await get(`/events?${query}`, token);
    assert.deepEqual([body.events, body.has_more], [[], true]);
    assert.deepEqual(idsOf((await readAll(token, query)).events), [wanted]);
  }
});

test("no event is skipped or repeated while transactions commit in another order than they began", async () => {
  const workspace = await makeWorkspace(db);
  const { events: _none, cursor: start } = await readAll(workspace.token);
  const rounds = 12;
  const subjects: string[] = [];
  let isWriting = true;

  /** Begins, takes its id, and commits in its own time. */
  async function write(round: number, place: number): Promise<void> {
    const subjectId = unknownId();
    subjects.push(subjectId);
    await db.kysely.transaction().execute(async (tx) => {
      await recordEvent(tx, {
        workspaceId: workspace.id,
        type: "recording_deleted",
        subjectId,
        audience: [],
        data: { id: subjectId },
      });
      const pause = (5 - place) * 7 + (round % 3) * 5;
      await new Promise((resolve) => setTimeout(resolve, pause));
    });
  }
  async function writeAll(): Promise<void> {
    for (let round = 0; round < rounds; round++)
      await Promise.all([0, 1, 2, 3, 4].map((place) => write(round, place)));
    isWriting = false;
  }
  /** Two at once, beside the worker's. */
  async function handOn(): Promise<void> {
    while (isWriting) {
      await fanOut(db);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  async function follow(limit: number): Promise<string[]> {
    const seen: string[] = [];
    let cursor = start;
    await until("every event was read", async () => {
      const page = await readAll(workspace.token, `&limit=${limit}`, cursor);
      cursor = page.cursor;
      seen.push(...idsOf(page.events));
      return !isWriting && seen.length >= subjects.length;
    });
    return seen;
  }
  const [, , , ...followers] = await Promise.all([
    writeAll(),
    handOn(),
    handOn(),
    follow(1),
    follow(7),
    follow(500),
  ]);
  for (const seen of followers) {
    assert.equal(seen.length, rounds * 5);
    assert.deepEqual(new Set(seen), new Set(subjects));
    assert.deepEqual(seen, followers[0], "the same order for every reader");
  }
});

test("types, limit and cursor: 400 with the reason", async () => {
  for (const [query, error, detail] of [
    ["types=recording_added,nonsense", "invalid_input", /hook types separated by commas/],
    ["types=,", "invalid_input", /hook types/],
    ["limit=0", "invalid_input", /from 1 to 500/],
    ["limit=501", "invalid_input", /from 1 to 500/],
    ["limit=ten", "invalid_input", /from 1 to 500/],
    ["cursor=nonsense", "invalid_cursor", /not from this operation/],
    [`cursor=${Buffer.from("events:1:x").toString("base64url")}`, "invalid_cursor", /not from this/],
    [`cursor=${Buffer.from("deliveries:1").toString("base64url")}`, "invalid_cursor", /not from this/],
  ] as const) {
    const { status, body } = await get(`/events?${query}`);
    assert.deepEqual([status, body.error], [400, error], query);
    assert.match(body.detail, detail);
  }
});

test("a cursor is valid for thirty days from the event after it, and at least for one day", async () => {
  const workspace = await makeWorkspace(db);
  const day = 86_400_000;
  const at = (ms: number) => Buffer.from(`events:0:${Date.now() - ms}`).toString("base64url");
  assert.equal((await get(`/events?cursor=${at(30 * day - 60_000)}`, workspace.token)).status, 200);
  const late = await get(`/events?cursor=${at(30 * day + 60_000)}`, workspace.token);
  assert.deepEqual([late.status, late.body.error], [410, "cursor_expired"]);
  assert.match(late.body.detail, /kept for 30 days.*without a cursor/);
  const timeOf = (cursor: string) =>
    Date.now() -
    Number(
      Buffer.from(cursor.split(".")[0] ?? "", "base64url")
        .toString()
        .split(":")[2],
    );
  const subjects = [1, 2, 3].map(() => unknownId());
  for (const subjectId of subjects) await happen({ workspaceId: workspace.id, subjectId });
  await settled();
  for (const [days, most] of [
    [20, 20],
    [40, 29],
  ] as const) {
    await db.pool.query(
      "update events set occurred_at = now() - make_interval(days => $2) where workspace_id = $1",
      [workspace.id, days],
    );
    const { body } = await get("/events?limit=1", workspace.token);
    assert.ok(Math.abs(timeOf(body.cursor) - most * day) < 60_000, "from the last event it has returned");
    assert.equal((await get(`/events?cursor=${body.cursor}`, workspace.token)).status, 200);
  }
  const { cursor } = await readAll(workspace.token);
  assert.ok(timeOf(cursor) < 60_000, "at the end, from now on");
});
