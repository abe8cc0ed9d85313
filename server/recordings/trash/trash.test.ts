import assert from "node:assert/strict";
import { test } from "node:test";
import { call } from "../../../test/support/app.ts";
import {
  insertHook,
  makeHighlight,
  makeRecording,
  makeTeam,
  makeUser,
  unknownId,
} from "../../../test/support/factories.ts";
import { startHookReceiver } from "../../../test/support/hook-receiver.ts";
import { until } from "../../../test/support/until.ts";
import { readIds } from "../../connections/exports/read.ts";
import { applyRetention } from "../../governance/retention/sweep.ts";
import { syncGrants } from "../../people/access/grants.ts";
import { recordEvent } from "../../people/events/record-event.ts";
import { recordingObjectKey } from "../../platform/storage/layout.ts";
import { claimRun, findDueRuns } from "../../processing/intelligence/queries.ts";
import { findDueTranscriptions, isRunning, markRunning } from "../../processing/transcription/queries.ts";
import { sweepLog } from "../../processing/uploads/test/uploads.ts";
import { addMedia, fixture, startLinks, tokenOf } from "../../sharing/public-links/test/public-links.ts";
import { emptyTrash } from "./purge.ts";

const { app, workspace, stranger, manage, open, makePublic, linksOf } = await startLinks({
  env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" },
});
const { admin, member } = workspace;
const { pool } = app.db;

const remove = (id: string, token = member.token) => manage("DELETE", `/recordings/${id}`, token);
const restore = (id: string, token: string | null = member.token) =>
  manage("POST", `/trash/${id}/restore`, token);
const purge = (id: string, token: string | null = member.token) => manage("DELETE", `/trash/${id}`, token);
const trashOf = async (token: string): Promise<{ id: string; purge_datetime: string; is_held: boolean }[]> =>
  (await manage("GET", "/trash", token)).body.recordings;
const sweep = () => emptyTrash({ db: app.db, store: app.store, log: sweepLog().log as never });

/** Types of the events after this one that the member can read in the feed. */
async function eventsAfter(cursor: string): Promise<string[]> {
  // Once the marker that is recorded now has arrived, everything before it has.
  const marker = (await manage("POST", "/stories", member.token, { title: "Marker" })).body.id;
  const events = await until("the feed has arrived", async () => {
    const { body } = await manage("GET", `/events?limit=100&cursor=${cursor}`, member.token);
    const end = body.events.findIndex((event: { data: { id: string } }) => event.data.id === marker);
    return end >= 0 && body.events.slice(0, end);
  });
  await manage("DELETE", `/stories/${marker}`, member.token);
  return events
    .filter((event: { type: string }) => !["story_added", "story_deleted"].includes(event.type))
    .map((event: { type: string }) => event.type);
}

async function feedEnd(): Promise<string> {
  let cursor = (await manage("GET", "/events?limit=100", member.token)).body.cursor;
  await eventsAfter(cursor);
  for (let hasMore = true; hasMore; ) {
    const { body } = await manage("GET", `/events?limit=100&cursor=${cursor}`, member.token);
    [cursor, hasMore] = [body.cursor, body.has_more];
  }
  return cursor;
}

/** Whether each way to read a recording works. */
async function access(
  id: string,
  { highlight, story, file, links }: { highlight: string; story: string; file: string; links: string[] },
): Promise<Record<string, unknown>> {
  const read = { token: member.token };
  const [recording, transcript, media, highlightOf, storyOf, found, list, stream] = await Promise.all([
    call(app, "POST", `/recordings/${id}`, {}, { token: workspace.token }),
    call(app, "GET", `/recordings/${id}/transcript`, undefined, read),
    manage("GET", `/recordings/${id}/media`, member.token),
    manage("GET", `/highlights/${highlight}`, member.token),
    manage("GET", `/stories/${story}`, member.token),
    manage("GET", "/search?q=Quagga", member.token),
    call(app, "POST", "/recordings", { filter: { title_search: "Quagga" } }, read),
    fetch(file, { headers: { range: "bytes=0-9" } }),
  ]);
  const shared = await Promise.all(links.map((token) => open(token)));
  return {
    statuses: [recording, transcript, media, highlightOf].map(({ status }) => status),
    stream: stream.status < 300,
    inStory: storyOf.body.highlights.length,
    found: found.body.results.length,
    listed: list.body.recordings.length,
    links: shared.map(({ status }) => status),
  };
}

test("a deleted recording is gone at once everywhere, and restoring it brings everything back", async () => {
  const { recordingId: id, token: publicToken } = await makePublic({ title: "Quagga" });
  await addMedia(app, id, { format: "mp3", bytes: fixture("good-cbr.mp3"), durationMs: 12_000 });
  const highlight = await makeHighlight(app, member.token, id, { text: "Look" });
  const made = await manage("POST", `/highlights/${highlight}/links`, member.token, { allow_download: true });
  assert.equal(made.status, 200, made.text);
  const story = (await manage("POST", "/stories", member.token, { title: "Zoo", highlight_ids: [highlight] }))
    .body.id;
  await manage("PUT", `/recordings/${id}/private_notes`, member.token, { text: "mine" });
  const media = await manage("GET", `/recordings/${id}/media`, member.token);
  const file = (media.body.url ?? media.body.media.url).replace(/^http:\/\/parley\.test/, app.url);
  const ways = { highlight, story, file, links: [publicToken, tokenOf(made.body)] };
  const before = {
    statuses: [200, 200, 200, 200],
    stream: true,
    inStory: 1,
    found: 1,
    listed: 1,
    links: [200, 200],
  };
  assert.deepEqual(await access(id, ways), before);
  const cursor = await feedEnd();

  const deleted = await remove(id);
  assert.equal(deleted.status, 200, deleted.text);
  assert.equal(deleted.body.is_complete, false);
  assert.deepEqual([deleted.body.removed.recordings, deleted.body.removed.uploads], [0, 1]);
  const days = (Date.parse(deleted.body.purge_datetime) - Date.now()) / 86_400_000;
  assert.ok(days > 29.9 && days < 30.1, String(days));
  const after = {
    statuses: [404, 404, 404, 404],
    stream: false,
    inStory: 0,
    found: 0,
    listed: 0,
    links: [404, 404],
  };
  assert.deepEqual(await access(id, ways), after);
  assert.deepEqual(await eventsAfter(cursor), ["story_updated", "highlight_deleted", "recording_deleted"]);
  assert.equal((await remove(id)).status, 404);
  assert.ok(!(await readIds(app.db, workspace.id, null)).includes(id), "not in exports");

  // What the server does with it meanwhile, or a previous version does with its access, changes nothing.
  await app.db.kysely.transaction().execute(async (tx) => {
    await recordEvent(tx, { workspaceId: workspace.id, type: "recording_updated", subjectId: id, data: {} });
    await syncGrants(tx, [id]);
  });
  // As a previous version would insert it.
  for (const type of ["recording_updated", "highlight_added"])
    await pool.query(
      `insert into events (event_id, workspace_id, type, subject_id, recording_id, data)
       values (gen_random_uuid(), $1, $2, $3, $3, '{}')`,
      [workspace.id, type, id],
    );
  await pool.query(
    `insert into recording_grants (principal_id, start_datetime, recording_id)
     values ($1, now(), $2)`,
    [member.id, id],
  );
  assert.deepEqual(await access(id, ways), after);

  assert.deepEqual(
    (await trashOf(member.token)).map((row) => row.id),
    [id],
  );
  assert.equal((await restore(id)).status, 200);
  assert.deepEqual(await access(id, ways), before);
  assert.deepEqual(await trashOf(member.token), []);
  assert.deepEqual(await eventsAfter(cursor), [
    "story_updated",
    "highlight_deleted",
    "recording_deleted",
    "recording_added",
    "highlight_added",
    "story_updated",
  ]);
  const [link] = (await manage("GET", `/highlights/${highlight}/links`, member.token)).body.links;
  assert.deepEqual({ ...link, last_opened_datetime: null }, made.body, "the link is as it was");
  assert.equal((await linksOf(id)).length, 1, "no second link was created");
  const notes = await manage("GET", `/recordings/${id}/private_notes`, member.token);
  assert.equal(notes.body.text, "mine");
  assert.equal((await restore(id)).status, 404);
});

test("those who could delete a recording can restore and purge it; others learn nothing or get 403", async () => {
  const shared = await makeUser(app.db, workspace);
  const colleague = await makeUser(app.db, workspace);
  for (const [who, token, expected] of [
    ["the recorder", member.token, 200],
    ["an admin who saw it", admin.token, 200],
    ["a workspace token", workspace.token, 200],
    ["a user with whom it was shared", shared.token, 403],
    ["a colleague", colleague.token, 404],
    ["an admin of another workspace", stranger.admin.token, 404],
    ["another workspace", stranger.token, 404],
    ["nobody", null, 401],
  ] as const) {
    const { recordingId: id } = await makeRecording(app, member.token);
    for (const user of [shared, admin])
      await call(app, "PUT", `/recordings/${id}/users`, { user_id: user.id }, { token: member.token });
    assert.equal((await restore(id, token)).status, token === null ? 401 : 404, who);
    await remove(id);
    if (token !== null)
      assert.equal(
        (await trashOf(token)).some((row) => row.id === id),
        expected === 200,
        who,
      );
    assert.equal((await restore(id, token)).status, expected, who);
    if (expected === 200) await remove(id);
    assert.equal((await purge(id, token)).status, expected, who);
    if (expected === 200) assert.equal((await restore(id, token)).status, 404, who);
  }
  for (const id of [unknownId(), "nonsense"]) assert.equal((await restore(id)).status, 404);
});

test("an admin who joins a team later sees no more of the trash, and one who left sees less", async () => {
  const team = await makeTeam(app.db, workspace);
  const other = await makeUser(app.db, workspace, { role: "admin" });
  const { recordingId: id } = await makeRecording(app, member.token, { team_id: team.id });
  await pool.query("insert into team_members (team_id, user_id) values ($1, $2)", [team.id, other.id]);
  await remove(id);
  assert.ok((await trashOf(other.token)).some((row) => row.id === id));
  await pool.query("delete from team_members where user_id = $1", [other.id]);
  assert.ok(!(await trashOf(other.token)).some((row) => row.id === id));
  assert.equal((await restore(id, other.token)).status, 404);
});

test("when its time is over a recording is deleted with its files, but not on legal hold, and no event is sent twice", async () => {
  const { recordingId: id } = await makeRecording(app, member.token);
  const key = recordingObjectKey(id, "media.mp3");
  await app.store.put(key, Buffer.from("bytes"));
  const cursor = await feedEnd();
  await remove(id);
  await sweep();
  assert.ok(await app.store.head(key), "not yet");
  await pool.query(
    "update trashed_recordings set trashed_at = now() - interval '31 days' where recording_id = $1",
    [id],
  );
  const hold = await manage("PUT", `/recordings/${id}/legal-hold`, admin.token, { reason: "dispute" });
  assert.equal(hold.status, 200, hold.text);
  await sweep();
  assert.equal((await purge(id)).status, 409);
  assert.equal((await trashOf(member.token)).find((row) => row.id === id)?.is_held, true);
  await manage("DELETE", `/recordings/${id}/legal-hold`, admin.token);
  await sweep();
  assert.equal(await app.store.head(key), null);
  assert.equal((await pool.query("select 1 from recordings where id = $1", [id])).rowCount, 0);
  assert.deepEqual(await eventsAfter(cursor), ["recording_deleted"], "the event outlives the files");
});

test("a held recording can't be deleted; with trash_days 0 nothing rests, not even what did", async () => {
  const [{ recordingId: held }, { recordingId: resting }, { recordingId: id }] = await Promise.all([
    makeRecording(app, member.token),
    makeRecording(app, member.token),
    makeRecording(app, member.token),
  ]);
  await manage("PUT", `/recordings/${held}/legal-hold`, admin.token, { reason: "dispute" });
  assert.equal((await remove(held)).status, 409);
  await remove(resting);
  const set = (trash_days: number) => manage("PATCH", "/workspace", admin.token, { trash_days });
  assert.equal((await set(366)).status, 400);
  assert.equal((await set(0)).body.trash_days, 0);
  const { body } = await remove(id);
  assert.deepEqual([body.purge_datetime, body.removed.recordings, body.is_complete], [null, 1, true]);
  assert.equal((await restore(id)).status, 404);
  await sweep();
  assert.equal((await restore(resting)).status, 404);
  await set(30);
});

test("retention rules delete recordings in the trash too, with a receipt", async () => {
  const { recordingId: id } = await makeRecording(app, member.token, {
    start_datetime: new Date(Date.now() - 400 * 86_400_000).toISOString(),
  });
  await pool.query("update recordings set created_at = now() - interval '2 days' where id = $1", [id]);
  await remove(id);
  const rule = await manage("POST", "/retention/rules", admin.token, {
    name: "Old",
    older_than_days: 365,
    enabled: true,
  });
  assert.equal(rule.status, 200, rule.text);
  await pool.query("update retention_rules set acts_from = now() - interval '1 second'");
  await applyRetention({ db: app.db, store: app.store, log: sweepLog().log as never });
  assert.equal((await pool.query("select 1 from recordings where id = $1", [id])).rowCount, 0);
  const { rowCount } = await pool.query("select 1 from retention_receipts where recording_id = $1", [id]);
  assert.equal(rowCount, 1);
  await pool.query("delete from retention_rules");
});

test("models don't work on a recording in the trash, and resume when it is restored", async () => {
  const { recordingId: id } = await makeRecording(app, member.token);
  await pool.query("insert into transcriptions (recording_id, status) values ($1, 'pending')", [id]);
  await pool.query("insert into intelligence_runs (recording_id, status) values ($1, 'pending')", [id]);
  const work = async () => [
    (await findDueTranscriptions(app.db.kysely)).includes(id),
    (await findDueRuns(app.db.kysely)).includes(id),
    (await claimRun(app.db.kysely, id)) !== undefined,
    await markRunning(app.db.kysely, id),
    await isRunning(app.db.kysely, id),
  ];
  await remove(id);
  assert.deepEqual(await work(), [false, false, false, false, false]);
  await restore(id);
  assert.deepEqual(await work(), [true, true, true, true, true]);
  await remove(id);
  assert.equal(await isRunning(app.db.kysely, id), false, "a transcription in flight stops");
  await purge(id);
});

test("a recording_deleted that is retried after the recording was restored is suppressed", async () => {
  const { recordingId: id } = await makeRecording(app, member.token);
  const receiver = await startHookReceiver();
  receiver.otherwise((_request, response) => void response.writeHead(503).end());
  await insertHook(app, {
    created_by: admin.id,
    scope: "workspace",
    hook_url: receiver.url,
    hook_type: "recording_deleted",
  });
  await remove(id);
  await until("the first attempt failed", () => receiver.requests.length > 0);
  await restore(id);
  receiver.otherwise((_request, response) => void response.end());
  const state = await until("it has a result", async () => {
    await pool.query(
      "update deliveries set due_at = now() - interval '1 second' where state = 'pending' and attempts > 0",
    );
    await pool.query("update hooks set next_due_at = now() - interval '1 second'");
    const { rows } = await pool.query(
      "select state from deliveries where subject_id = $1 and state <> 'pending'",
      [id],
    );
    return rows[0]?.state;
  });
  assert.equal(state, "withheld");
});

test("of restoring and deleting at the same time one wins, and nothing is left halfway", async () => {
  const { recordingId: id } = await makeRecording(app, member.token);
  await remove(id);
  const [restored, purged] = await Promise.all([restore(id), purge(id)]);
  assert.deepEqual([restored.status, purged.status].sort(), [200, 404]);
  const read = await call(app, "POST", `/recordings/${id}`, {}, { token: member.token });
  assert.equal(read.status, restored.status === 200 ? 200 : 404);
});

test("a recording in the trash is found by its ID only by those who may restore it", async () => {
  const { recordingId: id } = await makeRecording(app, member.token, { title: "Lost" });
  const colleague = await makeUser(app.db, workspace);
  await call(app, "PUT", `/recordings/${id}/users`, { user_id: colleague.id }, { token: member.token });
  const get = async (token: string) => (await manage("GET", `/trash/${id}`, token)).status;
  assert.equal(await get(member.token), 404, "not deleted");
  await remove(id);
  assert.equal((await manage("GET", `/trash/${id}`, member.token)).body.title, "Lost");
  assert.deepEqual(
    await Promise.all([get(workspace.token), get(colleague.token), get(stranger.token)]),
    [200, 404, 404],
  );
  await purge(id);
});

test("the trash is listed without its total when measuring it fails", async () => {
  await app.db.pool.query("alter table stored_files rename to unavailable");
  try {
    const { status, body } = await manage("GET", "/trash", member.token);
    assert.deepEqual([status, body.total], [200, null]);
  } finally {
    await app.db.pool.query("alter table unavailable rename to stored_files");
  }
});

test("emptying the trash deletes what the caller may restore and was shown, but nothing on legal hold", async () => {
  const other = await makeUser(app.db, workspace);
  const [{ recordingId: shown }, { recordingId: held }, { recordingId: foreign }] = await Promise.all([
    makeRecording(app, member.token),
    makeRecording(app, member.token),
    makeRecording(app, other.token),
  ]);
  const key = recordingObjectKey(shown, "media.mp3");
  await addMedia(app, shown, { format: "mp3", bytes: fixture("good-cbr.mp3"), durationMs: 12_000 });
  for (const id of [shown, held]) await remove(id);
  await remove(foreign, other.token);
  const { status } = await manage("PUT", `/recordings/${held}/legal-hold`, admin.token, {
    reason: "dispute",
  });
  assert.equal(status, 200);
  const { body } = await manage("GET", "/trash", member.token);
  assert.equal(body.total.recordings, body.recordings.length);
  assert.ok(body.total.bytes >= 0);
  const deleted_before = new Date(Date.parse(body.recordings[0].deleted_datetime) + 1).toISOString();
  const { recordingId: later } = await makeRecording(app, member.token);
  await remove(later);
  const emptied = await manage("POST", "/trash/empty", member.token, { deleted_before });
  assert.equal(emptied.status, 200, emptied.text);
  assert.equal(emptied.body.is_complete, true);
  assert.deepEqual(
    (await trashOf(member.token)).map(({ id }) => id),
    [later, held],
  );
  assert.deepEqual(
    (await trashOf(other.token)).map(({ id }) => id),
    [foreign],
  );
  assert.equal(await app.store.head(key), null);
  await manage("DELETE", `/recordings/${held}/legal-hold`, admin.token);
  assert.deepEqual((await manage("POST", "/trash/empty", workspace.token, {})).body.is_complete, true);
  assert.deepEqual(await trashOf(workspace.token), []);
});

test("a hold on a recording in the trash has its title for those who could see it, and when it would be deleted", async () => {
  const { recordingId: id } = await makeRecording(app, member.token, { title: "Contested" });
  await call(app, "PUT", `/recordings/${id}/users`, { user_id: admin.id }, { token: member.token });
  const blind = await makeUser(app.db, workspace, { role: "admin" });
  await remove(id);
  await manage("PUT", `/recordings/${id}/legal-hold`, admin.token, { reason: "dispute" });
  const hold = async (token: string) => (await manage("GET", "/legal-holds", token)).body.legal_holds[0];
  const seen = await hold(admin.token);
  assert.equal(seen.recording.title, "Contested");
  assert.ok(Date.parse(seen.purge_datetime) > Date.now());
  assert.equal((await hold(blind.token)).recording, null);
  await manage("DELETE", `/recordings/${id}/legal-hold`, admin.token);
  await restore(id);
  await manage("PUT", `/recordings/${id}/legal-hold`, admin.token, { reason: "dispute" });
  assert.equal((await hold(admin.token)).purge_datetime, null);
  await manage("DELETE", `/recordings/${id}/legal-hold`, admin.token);
});

test("an upload is found again, with its recording, once that is restored", async () => {
  const sent = await call(app, "POST", "/uploads/create", transcriptUpload, { token: member.token });
  assert.equal(sent.status, 200, sent.text);
  const read = () => call(app, "POST", `/uploads/${sent.body.id}`, {}, { token: member.token });
  const id = await until("it is a recording", async () => {
    const { body } = await read();
    return (body.recording_id as string | null) ?? undefined;
  });
  const before = (await read()).body;
  await remove(id);
  assert.equal((await read()).status, 404);
  await restore(id);
  const { title, status, auto_promote, recording_id, created_datetime } = (await read()).body;
  assert.deepEqual(
    { title, status, auto_promote, recording_id, created_datetime },
    {
      title: before.title,
      status: "success",
      auto_promote: before.auto_promote,
      recording_id: id,
      created_datetime: before.created_datetime,
    },
  );
  await remove(id);
});

const transcriptUpload = {
  media_type: "transcript",
  attributes: {
    transcript: {
      language: "en",
      segments: [{ speaker_key: "a", start: 0, end: 900, text: "The harbour is calm." }],
    },
  },
};

test("an import that is sent again finds the restored recording; one that was sent again meanwhile stays", async () => {
  const send = async () => {
    const { status, text, body } = await manage("POST", "/recordings", member.token, {
      title: "Imported",
      external_id: "trash-1",
      transcript: { language: "en", segments: [{ speaker_key: "a", start: 0, end: 900, text: "Hello." }] },
    });
    assert.equal(status, 200, text);
    return body.id as string;
  };
  const recordingOf = (importId: string) =>
    until("it is imported", async () => {
      const { body } = await manage("GET", `/imports/${importId}`, member.token);
      return (body.recording_id as string | null) ?? undefined;
    });
  const first = await send();
  const id = await recordingOf(first);
  await remove(id);
  assert.equal((await manage("GET", `/imports/${first}`, member.token)).status, 404);
  await restore(id);
  assert.equal(await send(), first);
  assert.equal(await recordingOf(first), id);
  await remove(id);
  const second = await send();
  assert.notEqual(second, first);
  await restore(id);
  assert.equal(await send(), second);
  for (const one of [id, await recordingOf(second)]) await remove(one);
});

test("restoring a recording connects its import again with the meeting and the watched file that it came from", async () => {
  const { body } = await manage("POST", "/recordings", member.token, {
    external_id: "trash-2",
    transcript: { language: "en", segments: [] },
  });
  const id = await until("it is imported", async () => {
    const found = await manage("GET", `/imports/${body.id}`, member.token);
    return (found.body.recording_id as string | null) ?? undefined;
  });
  await pool.query(
    `insert into connection_meetings (workspace_id, source, meeting_key, upload_id, has_transcript)
     values ($1, 'zoom', '\\x01', $2, false)`,
    [workspace.id, body.id],
  );
  await pool.query(
    `insert into watched_files (workspace_id, path_hash, folder, path, mark, state, upload_id)
     values ($1, '\\x01', '/mnt', 'Call.mp4', '\\x01', 'pending', $2)`,
    [workspace.id, body.id],
  );
  const links = async () =>
    (
      await pool.query(
        `select m.upload_id as meeting, w.upload_id as file from connection_meetings m, watched_files w
         where m.workspace_id = $1 and w.workspace_id = $1`,
        [workspace.id],
      )
    ).rows;
  await remove(id);
  assert.deepEqual(await links(), [{ meeting: null, file: null }]);
  await restore(id);
  assert.deepEqual(await links(), [{ meeting: body.id, file: body.id }]);
  await remove(id);
});
