import assert from "node:assert/strict";
import { test } from "node:test";
import { call, startTestApp } from "../../../test/support/app.ts";
import { makeUser, makeWorkspace } from "../../../test/support/factories.ts";
import { startHookReceiver } from "../../../test/support/hook-receiver.ts";
import { until } from "../../../test/support/until.ts";
import { createLog } from "../../platform/log.ts";
import { readDueCalendars } from "./refresh.ts";

const app = await startTestApp({ env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" } });
const receiver = await startHookReceiver();
const workspace = await makeWorkspace(app.db);
const { member } = workspace;

// biome-ignore lint/suspicious/noExplicitAny: any response of any operation.
async function manage(method: string, path: string, token: string, body?: unknown): Promise<any> {
  const response = await call(app, method, `/_/api/v1${path}`, body, { token, version: null });
  return { status: response.status, ...response.body };
}

const hourMs = 3_600_000;

function stamp(at: number): string {
  return `${new Date(at).toISOString().replace(/[-:]|\.\d+/g, "")}`;
}

function calendar(...events: readonly (readonly string[])[]): string {
  const lines = events.flatMap((event) => ["BEGIN:VEVENT", ...event, "END:VEVENT"]);
  return ["BEGIN:VCALENDAR", "X-WR-CALNAME:Work", ...lines, "END:VCALENDAR", ""].join("\r\n");
}

function event(uid: string, start: number, ...more: readonly string[]): string[] {
  return [`UID:${uid}`, `DTSTART:${stamp(start)}`, "DURATION:PT1H", `SUMMARY:Meeting ${uid}`, ...more];
}

let paths = 0;

/** A calendar's URL; what it serves can be changed. */
function serve(text: string, headers: Record<string, string> = {}) {
  paths += 1;
  const path = `/${paths}.ics`;
  const state = { text, status: 200, headers, asked: [] as (string | undefined)[] };
  receiver.at(path, (request, response) => {
    state.asked.push(request.headers["if-none-match"]);
    const isSame =
      state.headers.etag !== undefined && request.headers["if-none-match"] === state.headers.etag;
    response.writeHead(isSame ? 304 : state.status, state.headers);
    response.end(isSame ? "" : state.text);
  });
  return { url: `${receiver.url}${path}`, state };
}

/** Reads what is due at a time from now on. */
async function readAfter(
  ms: number,
  options: Pick<Parameters<typeof readDueCalendars>[0], "timeouts" | "lookAgainMs"> = {},
  signal = new AbortController().signal,
): Promise<void> {
  const at = new Date(Date.now() + ms);
  const { db, jobs, encryptor, config } = app;
  await readDueCalendars(
    { db, jobs, encryptor, config, log: createLog("silent"), signal, ...options },
    () => at,
  );
}

test("a calendar is read when it is added; its meetings of today are listed, and private ones have only times", async () => {
  const user = await makeUser(app.db, workspace);
  const now = Date.now();
  const soon = now + 60_000;
  const { url } = serve(
    calendar(
      event(
        "one",
        soon,
        'ATTENDEE;CN="Doe, Jane":mailto:jane@example.com',
        "ORGANIZER:mailto:boss@example.com",
      ),
      event("secret", soon + 1000, "CLASS:PRIVATE", "ATTENDEE:mailto:jane@example.com"),
      event("past", now - 3 * hourMs),
      ["UID:broken", "SUMMARY:No start"],
    ),
  );
  const added = await manage("POST", "/calendars", user.token, { kind: "ics", url });
  assert.equal(added.status, 200, JSON.stringify(added));
  assert.deepEqual(
    [added.name, added.state, added.events, added.unread_events, added.unread_examples, added.host],
    ["Work", "ok", 3, 1, [{ title: "No start", reason: "it has no start" }], new URL(url).host],
  );
  assert.ok(!JSON.stringify(added).includes(".ics"), "the URL is a secret");
  assert.deepEqual(
    [added.next_event.title, added.next_event.is_private, added.next_event.is_all_day],
    ["Meeting one", false, false],
  );
  assert.equal((await manage("GET", "/session/me", user.token)).has_calendars, true);
  assert.equal((await manage("GET", "/session/me", member.token)).has_calendars, false);
  const room = await manage("POST", "/calendars", workspace.admin.token, { kind: "ics", url, is_room: true });
  assert.deepEqual([room.events, room.next_event], [3, null], "events of rooms are for those invited");
  await manage("DELETE", `/calendars/${room.id}`, workspace.admin.token);
  const { meetings, has_calendars: has } = await manage(
    "GET",
    "/meetings?time_zone=Pacific/Kiritimati",
    user.token,
  );
  const { meetings: others } = await manage("GET", "/meetings", member.token);
  assert.deepEqual(others, []);
  assert.equal(has, true);
  assert.deepEqual(
    meetings.map((one: Record<string, unknown>) => [one.title, one.is_private, one.ical_uid, one.organizer]),
    [
      ["Meeting one", false, "one", { name: null, email: "boss@example.com" }],
      [null, true, null, null],
    ],
  );
  assert.deepEqual(meetings[0].attendees, [
    { name: null, email: "boss@example.com" },
    { name: "Doe, Jane", email: "jane@example.com" },
  ]);
  assert.deepEqual(meetings[1].attendees, []);
  const { rows } = await app.db.pool.query(
    "select count(*)::integer as count from calendar_events e where e::text ilike '%secret%'",
  );
  assert.equal(rows[0]?.count, 0, "nothing but the times of a private event is stored");
});

test("entries that can't be stored are counted, and neither they nor a cut title stop the rest of the calendar", async () => {
  const user = await makeUser(app.db, workspace);
  const soon = stamp(Date.now() + hourMs);
  const { url } = serve(
    calendar(
      ["UID:long", `DTSTART:${soon}`, "DURATION:P999999W", "SUMMARY:Long"],
      ["UID:old", "DTSTART:00000101T000000Z", `DTEND:${soon}`, "SUMMARY:Old"],
      ["UID:nul", "SUMMARY:No\0 start \\\\u0000"],
      ["UID:cut", `DTSTART:${soon}`, "DURATION:PT1H", `SUMMARY:${"x".repeat(499)}😀`],
      ["UID:name", `DTSTART:${soon}`, "DURATION:PT1H", `ATTENDEE;CN=${"y".repeat(199)}😀:mailto:a@b.example`],
    ),
  );
  const added = await manage("POST", "/calendars", user.token, { kind: "ics", url });
  assert.equal(added.status, 200, JSON.stringify(added));
  assert.deepEqual([added.events, added.unread_events], [2, 3]);
  assert.deepEqual(
    added.unread_examples.map((one: { title: string }) => one.title),
    ["No start \\u0000", "Long", "Old"],
  );
});

test("a calendar that has not changed is not read again; a failing one is read less often, and says why", async () => {
  const user = await makeUser(app.db, workspace);
  const { url, state } = serve(calendar(event("a", Date.now() + hourMs)), { etag: '"1"' });
  const { id } = await manage("POST", "/calendars", user.token, { kind: "ics", url });
  const read = async () =>
    (await manage("GET", "/calendars", user.token)).calendars.find((one: { id: string }) => one.id === id);
  const { rows: before } = await app.db.pool.query("select id from calendar_events where calendar_id = $1", [
    id,
  ]);
  await readAfter(60_000);
  assert.deepEqual(state.asked, [undefined], "not before 15 minutes are over");
  await readAfter(15 * 60_000);
  assert.deepEqual(state.asked, [undefined, '"1"']);
  state.headers = { etag: '"2"' };
  state.text = calendar(event("a", Date.now() + 2 * hourMs), event("b", Date.now() + 2 * hourMs));
  await readAfter(30 * 60_000);
  assert.equal((await read()).events, 2);
  const { rows: after } = await app.db.pool.query(
    "select id from calendar_events where calendar_id = $1 order by ical_uid",
    [id],
  );
  assert.deepEqual(after[0], before[0], "an event that moved keeps its id");
  state.headers = { "retry-after": "7200" };
  state.status = 429;
  await readAfter(45 * 60_000);
  const waiting = await read();
  assert.deepEqual([waiting.state, waiting.events], ["waiting", 2]);
  const wait = Date.parse(waiting.next_read_datetime) - Date.now();
  const later = wait - (45 * 60_000 + 2 * hourMs);
  // What the test itself took, and the two minutes over which calendars are spread.
  assert.ok(later > -60_000 && later <= 120_000, `waits ${wait} ms`);
  state.headers = {};
  state.status = 500;
  await readAfter(4 * hourMs);
  const failing = await read();
  assert.equal(failing.state, "failing");
  assert.match(failing.problem, /server fails \(500\)/);
  state.status = 200;
  await readAfter(30 * hourMs);
  assert.deepEqual([(await read()).state, (await read()).problem], ["ok", null]);
});

test("a server that hangs up, a private network and a web page are refused with the reason, and nothing is stored", async () => {
  const user = await makeUser(app.db, workspace);
  receiver.at("/hangs-up.ics", (_request, response) => {
    response.destroy();
  });
  const page = serve("<!DOCTYPE html><html></html>");
  for (const [url, reason] of [
    [`${receiver.url}/hangs-up.ics`, /closed before a response/],
    ["http://10.0.0.1/a.ics", /https/],
    ["https://10.0.0.1/a.ics", /not allowed|private/],
    [page.url, /web page/],
    [`${receiver.url}/file`, /not a calendar|empty file|status/],
  ] as const) {
    const refused = await manage("POST", "/calendars", user.token, { kind: "ics", url });
    assert.equal(refused.status, 400, url);
    assert.match(JSON.stringify(refused.violations), reason);
  }
  assert.deepEqual((await manage("GET", "/calendars", user.token)).calendars, []);
});

test("servers that never respond, or send a byte now and then, keep no other calendar waiting, and are read less often", async () => {
  const users = await Promise.all(Array.from({ length: 3 }, () => makeUser(app.db, workspace)));
  const hanging = serve(calendar(event("hanging", Date.now() + hourMs)));
  const dripping = serve(calendar(event("dripping", Date.now() + hourMs)));
  const fine = await startHookReceiver();
  const served = calendar(event("fine", Date.now() + hourMs));
  let reads = 0;
  fine.at("/fine.ics", (_request, response) => {
    reads += 1;
    response.end(served);
  });
  for (const user of users) {
    await manage("POST", "/calendars", user.token, { kind: "ics", url: hanging.url });
    await manage("POST", "/calendars", user.token, { kind: "ics", url: dripping.url });
    await manage("POST", "/calendars", user.token, { kind: "ics", url: `${fine.url}/fine.ics` });
  }
  assert.equal(reads, 3);
  let waiting = 0;
  const drips: NodeJS.Timeout[] = [];
  receiver.at(new URL(hanging.url).pathname, () => {
    waiting += 1;
  });
  receiver.at(new URL(dripping.url).pathname, (_request, response) => {
    waiting += 1;
    drips.push(setInterval(() => response.write("B"), 20));
  });
  // Only these: their calendars have been due for longer than those of other tests.
  await app.db.pool.query(
    "update calendars set next_read_at = case when user_id = any($1) then now() - interval '1 s' else 'infinity' end",
    [users.map(({ id }) => id)],
  );
  const stop = new AbortController();
  const stopped = readAfter(hourMs, {}, stop.signal);
  await until("the others are read", () => reads === 6);
  assert.ok(waiting > 0 && waiting <= 2, `${waiting} requests at a time to a host that hangs`);
  stop.abort(new Error("the server stops"));
  await assert.rejects(stopped, /the server stops/);
  await readAfter(2 * hourMs, { timeouts: { timeoutMs: 400, idleMs: 200 } });
  for (const drip of drips) clearInterval(drip);
  for (const { url } of [hanging, dripping])
    receiver.at(new URL(url).pathname, (_request, response) => {
      response.end(served);
    });
  const states: { state: string; problem: string; next_read_datetime: string }[] = (
    await manage("GET", "/calendars", users[0]?.token ?? "")
  ).calendars;
  assert.deepEqual(
    states.map(({ state }) => state),
    ["failing", "failing", "ok"],
  );
  assert.match(states[1]?.problem ?? "", /takes too long to arrive/);
  assert.ok(
    Date.parse(states[0]?.next_read_datetime ?? "") > Date.now() + 2 * hourMs + 20 * 60_000,
    "after twice the interval",
  );

  // The run lasts as long as the two that failed are read, and the next one begins only then.
  let isHanging = false;
  receiver.at(new URL(hanging.url).pathname, () => {
    isHanging = true;
  });
  await app.db.pool.query(
    "update calendars set next_read_at = case when failures > 0 then now() - interval '1 s' else 'infinity' end",
  );
  const end = new AbortController();
  const ended = readAfter(30 * hourMs, { lookAgainMs: 20 }, end.signal);
  await until("a failing calendar is read", () => isHanging);
  const before = reads;
  await app.db.pool.query(
    "update calendars set next_read_at = now() + interval '1 h' where failures = 0 and user_id = any($1)",
    [users.map(({ id }) => id)],
  );
  await until("those that became due meanwhile are read", () => reads === before + 3);
  end.abort(new Error("the server stops"));
  await assert.rejects(ended, /the server stops/);
  await app.db.pool.query("update calendars set next_read_at = now() + interval '1 y'");
});

test("no reading is in flight when a run ends because the database refuses a statement", async () => {
  const [slow, refused] = [await makeUser(app.db, workspace), await makeUser(app.db, workspace)];
  const { url } = serve(calendar(event("slow", Date.now() + hourMs)));
  const added = await manage("POST", "/calendars", slow.token, { kind: "ics", url });
  const { id } = await manage("POST", "/calendars", refused.token, {
    kind: "ics",
    url: serve(calendar(event("refused", Date.now() + hourMs))).url,
  });
  await app.db.pool.query(
    `update calendars set next_read_at = case id when $1 then now() - interval '2 s' when $2 then now() - interval '1 s' else 'infinity' end`,
    [added.id, id],
  );
  await app.db.pool.query(
    `create function refuse_calendar() returns trigger language plpgsql as
       $$ begin raise exception 'refused by the test'; end $$`,
  );
  await app.db.pool.query(
    `create trigger refuse_calendar before update on calendars for each row when (old.id = '${id}')
       execute function refuse_calendar()`,
  );
  let asked = 0;
  receiver.at(new URL(url).pathname, () => {
    asked += 1;
  });
  try {
    await assert.rejects(
      readAfter(hourMs, { timeouts: { timeoutMs: 400, idleMs: 200 } }),
      /refused by the test/,
    );
  } finally {
    await app.db.pool.query("drop trigger refuse_calendar on calendars");
    await app.db.pool.query("update calendars set next_read_at = now() + interval '1 y'");
  }
  assert.equal(asked, 1);
  const { calendars } = await manage("GET", "/calendars", slow.token);
  assert.equal(calendars[0]?.state, "failing", "what was begun has ended, and its result is saved");
});

test("calendars of deactivated users are not read, and erasing a person removes them and the person from others' events", async () => {
  const [gone, other] = [await makeUser(app.db, workspace), await makeUser(app.db, workspace)];
  const { rows: users } = await app.db.pool.query("select email from users where id = $1", [gone.id]);
  const { email } = users[0];
  const own = serve(calendar(event("own", Date.now())));
  const theirs = serve(
    calendar(event("theirs", Date.now(), `ATTENDEE:mailto:${email}`, `ORGANIZER:mailto:${email}`), [
      "UID:n",
      `DTSTART:${stamp(Date.now())}`,
      `SUMMARY:${gone.name}`,
      `ATTENDEE;CN=${gone.name}:invalid`,
    ]),
  );
  await manage("POST", "/calendars", gone.token, { kind: "ics", url: own.url });
  await manage("POST", "/calendars", other.token, { kind: "ics", url: theirs.url });
  await app.db.pool.query("update users set deactivated_at = now() where id = $1", [gone.id]);
  await readAfter(100 * hourMs);
  assert.deepEqual([own.state.asked.length, theirs.state.asked.length], [1, 2]);
  const erased = await manage("POST", "/erasures", workspace.admin.token, { email, recordings: "anonymise" });
  assert.ok(erased.id, JSON.stringify(erased));
  await until("the person is erased", async () => {
    const done = app.db.kysely.selectFrom("erasures").select("id").where("state", "=", "done");
    return (await done.execute()).length > 0;
  });
  const { rows } = await app.db.pool.query(
    `select (select count(*)::integer from calendars where user_id = $1) as calendars,
       (select count(*)::integer from calendar_events e where e::text ilike '%' || $2 || '%' or e::text ilike '%' || $3 || '%')
         as events`,
    [gone.id, email, gone.name],
  );
  assert.deepEqual(rows, [{ calendars: 0, events: 0 }]);
});
