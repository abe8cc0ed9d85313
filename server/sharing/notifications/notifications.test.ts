import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { test } from "node:test";
import pg from "pg";
import { notificationKinds } from "../../../contract/workspace/notification-kinds.ts";
import { call, startTestApp, type TestApp } from "../../../test/support/app.ts";
import {
  insertRecording,
  makeTeam,
  makeUpload,
  makeUser,
  makeWorkspace,
  type TestUser,
} from "../../../test/support/factories.ts";
import { until } from "../../../test/support/until.ts";
import { notificationChannel } from "../../people/events/notify.ts";
import { transition } from "../../processing/uploads/lifecycle/transition.ts";
import { lockUploadById } from "../../processing/uploads/queries.ts";
import { announceRecording, notifyOfReadyRecordings } from "../../recordings/recordings/announce.ts";
import { deleteOldNotifications } from "./delete-old.ts";
import { createNotificationStreams } from "./streams.ts";

const app = await startTestApp({ env: { PARLEY_PAGE_SIZE: "3" } });
const { db } = app;
const workspace = await makeWorkspace(db);
const { member, admin } = workspace;

async function manage(method: string, path: string, { token }: Pick<TestUser, "token">, body?: unknown) {
  const response = await call(app, method, `/_/api/v1${path}`, body, { token, version: null });
  assert.equal(response.status, 200, `${method} ${path}: ${response.text}`);
  return response.body;
}
const listed = async (user: TestUser, query = "") =>
  (await manage("GET", `/notifications${query}`, user)).notifications;
const titles = async (user: TestUser) => (await listed(user)).map(({ title }: { title: string }) => title);
const unread = async (user: TestUser) => (await manage("GET", "/notifications", user)).unread;
const newUser = (name: string) => makeUser(db, workspace, { name });
const newRecording = (recorder = member) =>
  insertRecording(db, { recorderId: recorder.id, title: "Heron 2", duration_ms: 60_000 });
const share = (id: string, user: TestUser, by = member) =>
  call(app, "PUT", `/recordings/${id}/users`, { user_id: user.id }, { token: by.token });
const unshare = (id: string, user: TestUser) =>
  call(app, "DELETE", `/recordings/${id}/users/${user.id}`, undefined, { token: member.token });

test("sharing with a user or a team notifies each user once, also those told already, but never who shares", async () => {
  const [ann, bob] = [await newUser("Ann"), await newUser("Bob")];
  const id = await newRecording();
  const team = await makeTeam(db, workspace, [ann, bob, member], "Sales");
  await share(id, ann);
  await share(id, ann);
  await call(app, "PUT", `/recordings/${id}/teams`, { team_id: team.id }, { token: member.token });
  const [notification, ...others] = await listed(ann);
  assert.deepEqual(others, []);
  assert.deepEqual(
    [notification.kind, notification.recording_id, notification.recording_title, notification.actor.id],
    ["shared", id, "Heron 2", member.id],
  );
  assert.equal(notification.url, `http://parley.test/recordings/${id}`);
  assert.match((await titles(bob))[0], /shared this recording with your team$/);
  assert.deepEqual(await titles(member), []);
});

test("a mention and a reply notify with the comment's text and moment; the author isn't notified, nor twice after an edit", async () => {
  const [ann, bob] = [await newUser("Ann Lee"), await newUser("Bob")];
  const id = await newRecording();
  for (const user of [ann, bob]) await share(id, user);
  const comment = await manage("POST", `/recordings/${id}/comments`, ann, {
    text: "@Bob, **look** at [this](https://example.com) `code`",
    timestamp: 500,
    mentions: [bob.id, ann.id],
  });
  const [mention] = await listed(bob);
  assert.deepEqual(
    [mention.kind, mention.title, mention.text, mention.timestamp, mention.actor.name],
    ["mentioned", "Ann Lee mentioned you", "@Bob, look at this `code`", 500, "Ann Lee"],
  );
  assert.equal(mention.url, `http://parley.test/recordings/${id}?t=0.5&comment=${comment.id}`);
  await manage("PATCH", `/comments/${comment.id}`, ann, { text: "@Bob, see", mentions: [bob.id, member.id] });
  assert.deepEqual(await titles(member), ["Ann Lee mentioned you"]);
  assert.equal((await listed(bob)).length, 2);
  await manage("POST", `/recordings/${id}/comments`, bob, { text: "I see", parent_id: comment.id });
  const [reply] = await listed(ann);
  assert.deepEqual([reply.title, reply.text, reply.timestamp], ["Bob replied", "I see", 500]);
  assert.equal((await listed(bob)).length, 2);
  await manage("DELETE", `/comments/${comment.id}`, ann);
  assert.deepEqual(await titles(member), [], "a deleted comment is no longer shown");
});

test("an invited user finds earlier notifications in the app, without an email due, and reads those of a recording at once", async () => {
  const invited = await newUser("Dora");
  const setInvited = (at: Date | null) =>
    db.kysely.updateTable("users").set({ invited_at: at }).where("id", "=", invited.id).execute();
  await setInvited(new Date());
  const id = await newRecording();
  await share(id, invited);
  await manage("POST", `/recordings/${id}/comments`, member, { text: "@Dora, see", mentions: [invited.id] });
  await setInvited(null);
  const found = (await listed(invited)).map(({ kind }: { kind: string }) => kind);
  assert.deepEqual(found, ["mentioned", "shared"]);
  assert.equal(await unread(invited), 2);
  await manage("POST", "/notifications/read", invited, { recording_id: await newRecording() });
  assert.equal(await unread(invited), 2, "another recording");
  await manage("POST", "/notifications/read", invited, { recording_id: id });
  assert.equal(await unread(invited), 0);
  const due = await db.kysely
    .selectFrom("notifications")
    .select("id")
    .where("user_id", "=", invited.id)
    .where("email_at", "is not", null)
    .execute();
  assert.deepEqual(due, []);
});

test("a user who lost access sees no notification about the recording, and its content neither in the count nor the stream", async () => {
  const user = await newUser("Una");
  const [kept, lost] = [await newRecording(), await newRecording()];
  for (const id of [kept, lost]) await share(id, user);
  assert.equal(await unread(user), 2);
  await unshare(lost, user);
  assert.deepEqual(
    (await listed(user)).map((one: { recording_id: string }) => one.recording_id),
    [kept],
  );
  assert.equal(await unread(user), 1);
  const stream = await listen(app, user);
  assert.equal((await stream.next()).newest.recording_id, kept);
  await call(app, "DELETE", `/_/api/v1/recordings/${kept}`, undefined, {
    token: member.token,
    version: null,
  });
  assert.deepEqual(await listed(user), []);
  stream.close();
});

test("notifications are listed over pages, newest first, and marked as read by id or all at once", async () => {
  const user = await newUser("Paul");
  for (let count = 0; count < 5; count += 1) await share(await newRecording(), user);
  const first = await manage("GET", "/notifications", user);
  const second = await manage("GET", `/notifications?cursor=${first.cursor}`, user);
  const ids = [...first.notifications, ...second.notifications].map(({ id }: { id: string }) => id);
  assert.deepEqual([first.notifications.length, ids.length, second.cursor], [3, 5, null]);
  await manage("POST", "/notifications/read", user, { ids: ids.slice(0, 2) });
  await manage("POST", "/notifications/read", member, { ids: ids.slice(2) });
  const left = await manage("GET", "/notifications?unread=true", user);
  assert.deepEqual(
    left.notifications.map(({ id }: { id: string }) => id),
    ids.slice(2),
  );
  await manage("POST", "/notifications/read", user, { all: true });
  assert.equal(await unread(user), 0);
  for (const body of [{}, { all: true, ids }, { ids: ["x"] }])
    assert.equal(
      (await call(app, "POST", "/_/api/v1/notifications/read", body, { token: user.token, version: null }))
        .status,
      400,
    );
});

test("settings have a default for each kind; a kind that is off is not recorded, others know when their email is due", async () => {
  const user = await newUser("Otto");
  const defaults = {
    ...Object.fromEntries(
      Object.entries(notificationKinds).map(([kind, definition]) => [kind, definition.default]),
    ),
    summary_emailed: "email",
  };
  assert.deepEqual(await manage("GET", "/me/notification-settings", user), defaults);
  const changed = await manage("PATCH", "/me/notification-settings", user, {
    shared: "off",
    mentioned: "daily",
  });
  assert.deepEqual(changed, { ...defaults, shared: "off", mentioned: "daily" });
  const id = await newRecording();
  await share(id, user);
  assert.deepEqual(await listed(user), []);
  const mention = { text: "@Otto", mentions: [user.id] };
  await manage("POST", `/recordings/${id}/comments`, member, mention);
  const dueInMs = async () =>
    (
      await db.pool.query(
        "select extract(epoch from email_at - now()) * 1000 as ms from notifications where user_id = $1",
        [user.id],
      )
    ).rows.map(({ ms }) => (ms === null ? null : Number(ms)));
  const [ms] = await dueInMs();
  assert.ok(ms != null && ms > 0 && ms <= 25 * 3_600_000, String(ms));
  await manage("PATCH", "/me/notification-settings", user, { mentioned: "app" });
  assert.deepEqual(await dueInMs(), [null]);
  const wrong = { shared: "sometimes" };
  assert.equal(
    (
      await call(app, "PATCH", "/_/api/v1/me/notification-settings", wrong, {
        token: user.token,
        version: null,
      })
    ).status,
    400,
  );
});

test("a failed upload notifies its user with the reason", async () => {
  const user = await newUser("Vera");
  const { id } = await makeUpload(app, user.token, { media_type: "audio", attributes: { title: "Standup" } });
  await db.kysely.transaction().execute(async (tx) => {
    const row = await lockUploadById(tx, id);
    assert.ok(row);
    await transition(tx, app.jobs, row, "url_expired", { failureReason: "No file arrived." });
  });
  const [{ title, text, url, recording_id }] = await listed(user);
  assert.deepEqual(
    [title, text, url, recording_id],
    ["The upload “Standup” failed", "No file arrived.", `http://parley.test/uploads/${id}`, null],
  );
});

/** Adds users as participants of a recording. @returns the ids of the participants. */
async function addParticipants(id: string, users: readonly TestUser[]): Promise<string[]> {
  const added = [];
  for (const { name, email } of users)
    added.push((await manage("POST", `/recordings/${id}/participants`, member, { name, email })).id);
  return added;
}

test("an action item notifies its assignee, with a link to its moment, until it is someone else's", async () => {
  const [ann, bob] = [await newUser("Ann"), await newUser("Bob")];
  const id = await newRecording();
  const participants = await addParticipants(id, [ann, bob]);
  const item = {
    id: randomUUID(),
    status: "pending",
    timestamp: 2500,
    text: "Send it",
    quote: "",
    assignee_id: null,
  };
  await db.pool.query("update recordings set ai_action_items = $1 where id = $2", [
    JSON.stringify([item]),
    id,
  ]);
  const assign = (assignee_id: string | undefined, by = member) =>
    manage("PATCH", `/recordings/${id}/action-items/${item.id}`, by, { assignee_id });
  await assign(participants[0]);
  const [notification] = await listed(ann);
  assert.deepEqual(
    [notification.title, notification.text, notification.url],
    ["An action item is assigned to you", "Send it", `http://parley.test/recordings/${id}?t=2.5`],
  );
  await assign(participants[1]);
  assert.deepEqual([(await listed(ann)).length, (await listed(bob)).length], [0, 1]);
});

test("those who recorded or attended a meeting are notified once, when its transcript and summary are ready", async () => {
  const guest = await newUser("Gina");
  const id = await newRecording();
  await addParticipants(id, [guest]);
  await db.pool.query("insert into transcriptions (recording_id, status) values ($1, 'pending')", [id]);
  await db.kysely.transaction().execute((tx) => announceRecording(tx, { id, workspaceId: workspace.id }));
  await notifyOfReadyRecordings(db);
  assert.deepEqual(await listed(guest), []);
  await db.pool.query("update transcriptions set status = 'done' where recording_id = $1", [id]);
  await db.pool.query("insert into intelligence_runs (recording_id, status) values ($1, 'done')", [id]);
  for (const _ of [1, 2]) await notifyOfReadyRecordings(db);
  for (const user of [guest, member])
    assert.deepEqual(
      (await listed(user))
        .filter((one: { recording_id: string }) => one.recording_id === id)
        .map(({ title }: { title: string }) => title),
      ["The transcript and summary are ready"],
    );
});

test("a recording that is deleted while its recorder is notified that it is ready is gone, and nobody is notified", async () => {
  const id = await newRecording();
  await db.pool.query("insert into transcriptions (recording_id, status) values ($1, 'pending')", [id]);
  await db.kysely.transaction().execute((tx) => announceRecording(tx, { id, workspaceId: workspace.id }));
  await db.pool.query("update transcriptions set status = 'done' where recording_id = $1", [id]);
  let notifying: Promise<number> | undefined;
  await db.kysely.transaction().execute(async (tx) => {
    // As deleting a recording does.
    await tx.selectFrom("recordings").select("id").where("id", "=", id).forUpdate().execute();
    notifying = notifyOfReadyRecordings(db);
    await until("the notification waits for the deletion", async () => {
      const { rows } = await db.pool.query(
        "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
      );
      return rows.length > 0;
    });
    await tx.deleteFrom("recordings").where("id", "=", id).execute();
  });
  assert.equal(await notifying, 1);
  const { rows } = await db.pool.query(
    "select id from notifications where kind = 'recording_ready' and recording_id = $1",
    [id],
  );
  assert.deepEqual(rows, []);
});

test("notifications older than 90 days are deleted", async () => {
  const user = await newUser("Old");
  await share(await newRecording(), user);
  await share(await newRecording(), user);
  await db.pool.query(
    "update notifications set created_at = now() - interval '91 days' where id = (select id from notifications where user_id = $1 limit 1)",
    [user.id],
  );
  await deleteOldNotifications(db.kysely);
  assert.equal((await listed(user)).length, 1);
});

test("erasing a user deletes their notifications and settings, and their name from those of others", async () => {
  const [gone, other] = [await newUser("Gwen Gone"), await newUser("Olga")];
  const id = await newRecording(gone);
  await share(id, other, gone);
  await share(await newRecording(), gone);
  await manage("PATCH", "/me/notification-settings", gone, { shared: "off" });
  await manage("POST", "/erasures", admin, { email: gone.email });
  const { rows } = await db.pool.query(
    `select (select count(*) from notifications where user_id = $1 or actor_id = $1)
       + (select count(*) from notification_settings where user_id = $1) as left`,
    [gone.id],
  );
  assert.equal(Number(rows[0].left), 0);
  assert.deepEqual(await titles(other), ["Someone shared this recording with you"]);
});

test("a stream begins with the state, then sends each change, also those of other processes and other windows", async () => {
  const user = await newUser("Sid");
  const stream = await listen(app, user);
  assert.deepEqual(await stream.next(), { unread: 0, newest: null });
  const id = await newRecording();
  await share(id, user);
  const { unread: count, newest } = await stream.next();
  assert.deepEqual([count, newest.kind, newest.recording_id], [1, "shared", id]);
  await manage("POST", "/notifications/read", user, { all: true });
  assert.equal((await stream.next()).unread, 0);
  stream.close();
  const again = await listen(app, user);
  assert.equal(
    (await again.next()).newest.id,
    newest.id,
    "after a sleep the first message is the present state",
  );
  again.close();
});

test("a stream says that comments changed to those who see the recording, and to nobody else", async () => {
  const [reader, stranger] = [await newUser("Rea"), await newUser("Stan")];
  const streams = [await listen(app, reader), await listen(app, stranger)] as const;
  for (const stream of streams) assert.equal((await stream.next()).unread, 0);
  const id = await newRecording();
  await share(id, reader);
  assert.equal((await streams[0].next()).unread, 1);
  await manage("POST", `/recordings/${id}/comments`, member, { text: "Secret" });
  assert.deepEqual(await streams[0].next(), { recording_id: id });
  // What comes next to the stranger is about the stranger's own recording.
  const theirs = await newRecording();
  await share(theirs, stranger);
  assert.equal((await streams[1].next()).newest.recording_id, theirs);
  for (const stream of streams) stream.close();
});

test("changes while the database can't be read are sent afterwards, without reading in a busy loop", async (t) => {
  const reader = await newUser("Ada");
  const id = await newRecording();
  await share(id, reader);
  const { host, port, user, password, database } = new pg.Client(db.session);
  /** The moments of connections that failed, once the database is away. */
  const refused: number[] = [];
  let isAway = false;
  const relay = createServer((socket) => {
    if (isAway) {
      refused.push(performance.now());
      socket.destroy();
      return;
    }
    const server = host.startsWith("/") ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    socket.pipe(server).pipe(socket);
    for (const end of [socket, server]) end.on("error", () => undefined);
  }).listen(0, "127.0.0.1");
  await once(relay, "listening");
  const { port: relayPort } = relay.address() as AddressInfo;
  const pool = new pg.Pool({
    ...{ user, password: password ?? undefined, database, host: "127.0.0.1", port: relayPort },
    idleTimeoutMillis: 1,
  });
  const warnings: unknown[] = [];
  const log = { warn: (about: unknown) => warnings.push(about), debug: () => undefined };
  const streams = createNotificationStreams({ db: { pool, session: db.session }, log });
  t.after(async () => {
    await streams.close();
    await pool.end();
    relay.close();
  });
  let text = "";
  streams.open(reader.id).on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  await until(
    "the state arrives, and its connection is closed",
    () => /data:/.test(text) && pool.totalCount === 0,
  );
  isAway = true;
  await until("a comment is announced", async () => {
    await manage("POST", `/recordings/${id}/comments`, member, { text: "Still here?" });
    return refused.length > 0;
  });
  const [first = 0, second = 0] = await until(
    "it is read again",
    () => refused.length > 1 && refused,
    20_000,
  );
  assert.ok(second - first > 1000, `after ${second - first} ms`);
  assert.equal(warnings.length, 1);
  isAway = false;
  await until("the comment's event arrives", () =>
    text.includes(`event: comments\ndata: {"recording_id":"${id}"}`),
  );
});

test("streams say that events may be missing after the connection that listens was lost", async () => {
  const user = await newUser("Mia");
  const stream = await listen(app, user);
  assert.equal((await stream.next()).unread, 0);
  await until("the connection that listens is cut", async () => {
    const { rowCount } = await db.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and query = 'listen ${notificationChannel}'`,
    );
    return rowCount === 1;
  });
  assert.deepEqual(await stream.next(), {});
  stream.close();
});

test("a stream ends within seconds when the token is revoked", async () => {
  const user = await newUser("Rita");
  const stream = await listen(app, user);
  await stream.next();
  await db.pool.query("update access_tokens set revoked_at = now() where user_id = $1", [user.id]);
  await until("the stream ends", async () => stream.hasEnded());
});

/** Reads the messages of a stream. */
async function listen({ url }: TestApp, { token }: Pick<TestUser, "token">) {
  const closing = new AbortController();
  const response = await fetch(`${url}/_/api/v1/notifications/stream`, {
    headers: { authorization: `Bearer ${token}` },
    signal: closing.signal,
  });
  assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/);
  const messages: string[] = [];
  let hasEnded = false;
  void (async () => {
    let text = "";
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      const parts = text.split("\n\n");
      text = parts.pop() ?? "";
      messages.push(...parts.filter((part) => part.includes("data: ")));
    }
  })()
    .catch(() => undefined)
    .finally(() => {
      hasEnded = true;
    });
  return {
    async next() {
      await until("a message arrives", async () => messages.length > 0);
      return JSON.parse((messages.shift() ?? "").split("data: ")[1] ?? "");
    },
    hasEnded: () => hasEnded,
    close: () => closing.abort(),
  };
}
