import assert from "node:assert/strict";
import { test } from "node:test";
import { call, startTestApp } from "../../../../test/support/app.ts";
import { makeUser, makeWorkspace } from "../../../../test/support/factories.ts";
import { until } from "../../../../test/support/until.ts";
import { type Candidate, chooseCandidate } from "./candidates.ts";

const app = await startTestApp();
const { pool } = app.db;
const workspace = await makeWorkspace(app.db);
const start = Date.parse("2026-03-02T10:00:00Z");
const minuteMs = 60_000;

// biome-ignore lint/suspicious/noExplicitAny: any response of any operation.
async function manage(method: string, path: string, token: string, body?: unknown): Promise<any> {
  const response = await call(app, method, `/_/api/v1${path}`, body, { token, version: null });
  return { status: response.status, ...response.body };
}

interface Event {
  readonly uid?: string;
  readonly title?: string;
  readonly from?: number;
  readonly to?: number;
  readonly organizer?: string;
  readonly attendees?: readonly { name: string | null; email: string; declined?: true }[];
}

/** A calendar with these events; a room calendar without a user. */
async function addCalendar(userId: string | null, events: readonly Event[]): Promise<string> {
  const { rows } = await pool.query(
    `insert into calendars (id, workspace_id, user_id, kind, name, host, secrets, time_zone, next_read_at)
     values (gen_random_uuid(), $1, $2, 'ics', 'Work', 'example', '', 'UTC', 'infinity') returning id`,
    [workspace.id, userId],
  );
  for (const { uid = "u", title = "Planning", from = 0, to = 60, organizer, attendees = [] } of events)
    await pool.query(
      `insert into calendar_events (id, calendar_id, key, start_at, end_at, is_all_day, is_private, ical_uid, title,
         organizer, attendees)
       values (gen_random_uuid(), $1, md5($2), $3, $4, false, false, $2, $5, $6, $7)`,
      [
        rows[0].id,
        uid,
        new Date(start + from * minuteMs),
        new Date(start + to * minuteMs),
        title,
        organizer === undefined ? null : JSON.stringify({ name: null, email: organizer }),
        JSON.stringify(attendees),
      ],
    );
  return rows[0].id;
}

/** A recording of some minutes, once its meeting was looked up. */
async function record(
  token: string,
  {
    from = 0,
    minutes = 60,
    title,
    recorderId,
  }: { from?: number; minutes?: number; title?: string; recorderId?: string } = {},
) {
  const upload = await call(
    app,
    "POST",
    "/uploads/create",
    {
      media_type: "transcript",
      auto_promote: true,
      attributes: {
        ...(title === undefined ? {} : { title }),
        ...(recorderId === undefined ? {} : { recorder_ids: [recorderId] }),
        start_datetime: new Date(start + from * minuteMs).toISOString(),
        transcript: {
          language: "en",
          segments: [{ start: 0, end: minutes * minuteMs, speaker_key: "a", text: "Hello" }],
        },
      },
    },
    { token },
  );
  assert.equal(upload.status, 200, upload.text);
  const id = await until("the upload is a recording", async () => {
    const { rows } = await pool.query(
      `select recording_id from uploads u where id = $1 and recording_id is not null
         and not exists (select 1 from jobs j where j.name = 'match_meeting' and j.key = u.recording_id::text)`,
      [upload.body.id],
    );
    return rows[0]?.recording_id as string | undefined;
  });
  return id;
}

async function view(id: string, token: string) {
  const include = { participants: true, calendar_event: true, private_notes: true };
  const { body } = await call(app, "POST", `/recordings/${id}`, { include }, { token });
  return body;
}

async function events(id: string): Promise<string[]> {
  const { rows } = await pool.query("select type from events where subject_id = $1 order by id", [id]);
  return rows.map(({ type }) => type);
}

/** Imports an hour's recording that names the event of a calendar. */
async function importFrom(
  { token }: { readonly token: string },
  uid: string,
  attributes: Record<string, unknown>,
): Promise<void> {
  const imported = await manage("POST", "/recordings", token, {
    ...attributes,
    calendar_event: {
      ical_uid: uid,
      scheduled_start_datetime: new Date(start).toISOString(),
      scheduled_end_datetime: new Date(start + 60 * minuteMs).toISOString(),
    },
    transcript: {
      language: "en",
      segments: [{ start: 0, end: 60 * minuteMs, speaker_key: "a", text: "Hello" }],
    },
  });
  assert.ok(imported.id, JSON.stringify(imported));
}

test("a recording gets title, people, times, type and notes from its meeting with one recording_updated, and undo removes them", async () => {
  const [user, colleague] = [await makeUser(app.db, workspace), await makeUser(app.db, workspace)];
  const { rows } = await pool.query("select email from users where id = $1", [colleague.id]);
  const calendarId = await addCalendar(user.id, [
    {
      uid: "plan",
      title: "Planning with Acme",
      organizer: user.email,
      attendees: [
        { name: "Jo Customer", email: "jo@acme.example" },
        { name: "No Show", email: "no@acme.example", declined: true },
        { name: null, email: rows[0].email },
      ],
    },
  ]);
  await pool.query(
    "insert into meeting_notes (calendar_id, user_id, event_key, text) values ($1, $2, md5('plan'), 'Ask')",
    [calendarId, user.id],
  );
  const id = await record(user.token, { from: 2, minutes: 50 });
  const recording = await view(id, user.token);
  assert.equal(recording.title, "Planning with Acme");
  assert.deepEqual(recording.calendar_event, {
    ical_uid: "plan",
    scheduled_start_datetime: "2026-03-02T10:00:00.000Z",
    scheduled_end_datetime: "2026-03-02T11:00:00.000Z",
  });
  assert.deepEqual(
    recording.participants.map((one: Record<string, unknown>) => [
      one.name,
      one.scope,
      one.confirmed_attendee,
    ]),
    [
      [user.email, "internal", false],
      ["Jo Customer", "external", false],
      [rows[0].email, "internal", false],
    ],
  );
  assert.equal(recording.meeting_type.scope, "external");
  assert.equal(recording.private_notes?.text ?? recording.private_notes, "Ask");
  assert.deepEqual(await events(id), ["recording_added", "recording_updated"]);
  assert.equal((await call(app, "POST", `/recordings/${id}`, {}, { token: colleague.token })).status, 404);
  const listed = await manage("GET", `/recordings/${id}/meeting`, user.token);
  assert.deepEqual([listed.state, listed.is_chosen, listed.candidates.length], ["matched", false, 1]);
  assert.deepEqual(
    [listed.parts, listed.meeting_id],
    [["title", "participants", "scheduled_times"], listed.candidates[0].id],
  );

  await pool.query(
    "update calendar_events set start_at = start_at + interval '1 hour' where calendar_id = $1",
    [calendarId],
  );
  assert.deepEqual((await view(id, user.token)).calendar_event, recording.calendar_event, "moved later");
  await pool.query(
    "update calendar_events set start_at = start_at - interval '1 hour' where calendar_id = $1",
    [calendarId],
  );

  const undone = await manage("DELETE", `/recordings/${id}/meeting`, user.token);
  assert.equal(undone.state, "undone");
  const after = await view(id, user.token);
  assert.deepEqual(
    [after.calendar_event, after.participants, after.meeting_type.scope],
    [null, [], "internal"],
  );
  assert.notEqual(after.title, "Planning with Acme");
  assert.deepEqual([undone.parts, undone.meeting_id], [[], null]);
  assert.equal((await events(id)).length, 3);

  const path = `/recordings/${id}/meeting`;
  const again = { meeting_id: listed.candidates[0].id, is_chosen: false };
  const restored = await manage("PUT", path, user.token, again);
  assert.deepEqual({ ...restored, status: 0 }, { ...listed, status: 0 }, "as before it was undone");
  assert.equal((await call(app, "POST", `/recordings/${id}`, {}, { token: colleague.token })).status, 404);
  await manage("DELETE", path, user.token);

  const chosen = await manage("PUT", `/recordings/${id}/meeting`, user.token, {
    meeting_id: listed.candidates[0].id,
  });
  assert.deepEqual([chosen.state, chosen.is_chosen], ["matched", true]);
  const recorded = await events(id);
  await manage("PUT", `/recordings/${id}/meeting`, user.token, { meeting_id: listed.candidates[0].id });
  assert.deepEqual(await events(id), recorded, "choosing the same meeting again changes nothing");
  assert.equal((await view(id, user.token)).title, "Planning with Acme");
  assert.equal((await call(app, "POST", `/recordings/${id}`, {}, { token: colleague.token })).status, 200);
  await manage("DELETE", `/calendars/${calendarId}`, user.token);
  assert.equal(
    (await view(id, user.token)).title,
    "Planning with Acme",
    "what became part of a recording stays",
  );
});

test("a match says what the recording has from its meeting, keeps people who were there before, and names other recordings", async () => {
  const [user, stranger] = [await makeUser(app.db, workspace), await makeUser(app.db, workspace)];
  const jo = { name: "Jo Break", email: "jo@break.example" };
  await addCalendar(user.id, [
    { uid: "break", title: "With a break", from: 5000, to: 5060, organizer: user.email, attendees: [jo] },
  ]);
  const first = await record(user.token, { from: 5000, minutes: 20, title: "My title" });
  const second = await record(user.token, { from: 5030, minutes: 20 });
  const meeting = (id: string) => manage("GET", `/recordings/${id}/meeting`, user.token);
  const { parts, other_recordings: others } = await meeting(first);
  assert.deepEqual(parts, ["participants", "scheduled_times"], "the title is the user's");
  assert.deepEqual(others, [
    { id: second, title: "With a break", start_datetime: new Date(start + 5030 * minuteMs).toISOString() },
  ]);
  assert.equal((await meeting(second)).other_recordings[0].id, first);
  await manage("PATCH", `/recordings/${second}`, user.token, { recorder_ids: [stranger.id] });
  assert.deepEqual((await meeting(first)).other_recordings, [], "without those that the caller can't see");

  const { participants } = await view(first, user.token);
  for (const { id } of participants)
    await manage("PATCH", `/recordings/${first}/participants/${id}`, user.token, {
      confirmed_attendee: true,
    });
  await manage("DELETE", `/recordings/${first}/meeting`, user.token);
  const { candidates } = await meeting(first);
  await manage("PUT", `/recordings/${first}/meeting`, user.token, { meeting_id: candidates[0].id });
  assert.deepEqual((await meeting(first)).parts, ["scheduled_times"], "the participants were there before");
  await manage("DELETE", `/recordings/${first}/meeting`, user.token);
  assert.deepEqual((await view(first, user.token)).participants.length, 2);
});

test("two meetings that fit equally are asked about; a chosen title stays; rooms count only for those invited", async () => {
  const user = await makeUser(app.db, workspace);
  const { rows } = await pool.query("select email from users where id = $1", [user.id]);
  await addCalendar(user.id, [
    { uid: "x", title: "Budget" },
    { uid: "y", title: "Hiring" },
  ]);
  const asked = await record(user.token);
  const { state, candidates } = await manage("GET", `/recordings/${asked}/meeting`, user.token);
  assert.deepEqual([state, candidates.length], ["ambiguous", 2]);
  assert.deepEqual(await events(asked), ["recording_added"]);
  const named = await record(user.token, { title: "Hiring, part two" });
  const recording = await view(named, user.token);
  assert.deepEqual([recording.title, recording.calendar_event.ical_uid], ["Hiring, part two", "y"]);
  assert.equal(
    (await manage("GET", `/recordings/${await record(user.token, { from: 45 })}/meeting`, user.token)).state,
    "none",
  );

  await addCalendar(null, [
    { uid: "theirs", title: "Secret of others", from: 600, to: 660 },
    {
      uid: "ours",
      title: "Ours",
      from: 700,
      to: 760,
      attendees: [{ name: "U", email: rows[0].email.toUpperCase() }],
    },
  ]);
  const other = await record(user.token, { from: 600 });
  assert.deepEqual((await manage("GET", `/recordings/${other}/meeting`, user.token)).candidates, []);
  assert.equal((await view(await record(user.token, { from: 700 }), user.token)).title, "Ours");
});

test("an upload that names a colleague as recorder reveals nothing of the colleague's calendars and rooms", async () => {
  const [user, colleague] = [await makeUser(app.db, workspace), await makeUser(app.db, workspace)];
  await addCalendar(colleague.id, [{ uid: "secret", title: "Secret", from: 2000, to: 2060 }]);
  const attendees = [{ name: null, email: colleague.email }];
  await addCalendar(null, [{ uid: "board", title: "Board", from: 2100, to: 2160, attendees }]);
  for (const from of [2000, 2100]) {
    const id = await record(user.token, { from, recorderId: colleague.id });
    const { calendar_event: event, participants } = await view(id, user.token);
    assert.deepEqual([event, participants], [null, []]);
    const { state, candidates } = await manage("GET", `/recordings/${id}/meeting`, colleague.token);
    assert.deepEqual([state, candidates.length], ["none", 1], "the recorder can choose their meeting");
    const own = await record(workspace.token, { from, recorderId: colleague.id });
    assert.equal((await manage("GET", `/recordings/${own}/meeting`, colleague.token)).state, "matched");
  }
});

test("an invited user who is confirmed has access, and undoing the meeting keeps what a user changed", async () => {
  const [user, colleague] = [await makeUser(app.db, workspace), await makeUser(app.db, workspace)];
  const attendees = [
    { name: null, email: colleague.email },
    { name: "Jo", email: "jo@acme.example" },
  ];
  await addCalendar(user.id, [
    { uid: "invited", title: "Invited", from: 4000, to: 4060, organizer: user.email, attendees },
  ]);
  const id = await record(user.token, { from: 4000 });
  const isSeen = async () =>
    (await call(app, "POST", `/recordings/${id}`, {}, { token: colleague.token })).status === 200;
  assert.equal(await isSeen(), false);
  await pool.query(
    "update participants set confirmed_attendee = true where recording_id = $1 and email = $2",
    [id, colleague.email],
  );
  const { rows } = await pool.query("select id from participants where recording_id = $1 and email = $2", [
    id,
    colleague.email,
  ]);
  const confirmed = await manage("PATCH", `/recordings/${id}/participants/${rows[0].id}`, user.token, {
    confirmed_attendee: true,
  });
  assert.equal(confirmed.status, 200, JSON.stringify(confirmed));
  assert.equal(await isSeen(), true, "also if a transcript confirmed them before");
  const { rows: jo } = await pool.query(
    "select id from participants where recording_id = $1 and name = 'Jo'",
    [id],
  );
  await manage("PATCH", `/recordings/${id}/participants/${jo[0].id}`, user.token, { name: "Jo Miller" });
  await manage("DELETE", `/recordings/${id}/meeting`, user.token);
  const { participants } = await view(id, user.token);
  assert.deepEqual(
    participants.map((one: { name: string }) => one.name),
    [colleague.email, "Jo Miller"],
  );
});

test("a meeting that names only other people is offered, not chosen", async () => {
  const user = await makeUser(app.db, workspace);
  await addCalendar(user.id, [
    { uid: "shared", title: "Of others", from: 3000, to: 3060, organizer: "jo@acme.example" },
  ]);
  const id = await record(user.token, { from: 3000 });
  const { state, candidates } = await manage("GET", `/recordings/${id}/meeting`, user.token);
  assert.deepEqual([state, candidates.length], ["ambiguous", 1]);
});

test("of overlapping meetings the one whose times fit better is meant, and invitations count before all", () => {
  const candidate = (title: string, fit: number, isTheirs = true): Candidate => ({
    ...{ id: title, calendar_id: "", key: title, ical_uid: title, title, fit, is_theirs: isTheirs },
    ...{ start_at: new Date(start), end_at: new Date(start), organizer: null, attendees: [] },
  });
  const choose = (title: string | null, ...candidates: Candidate[]): string | null => {
    const chosen = chooseCandidate(candidates, title);
    return chosen === null || chosen === "unclear" ? chosen : chosen.title;
  };
  assert.equal(choose(null), null);
  assert.equal(choose(null, candidate("a", 0.9), candidate("b", 0.5)), "a");
  assert.equal(choose(null, candidate("a", 0.9), candidate("b", 0.85)), "unclear");
  assert.equal(choose(null, candidate("a", 0.6), candidate("b", 0.6, false)), "a");
  assert.equal(choose(null, candidate("a", 0.9, false)), "unclear");
  assert.equal(choose("Weekly sync", candidate("Retro", 0.9), candidate("Weekly Sync", 0.85)), "Weekly Sync");
  assert.equal(choose("Something else", candidate("Retro", 0.9), candidate("Weekly Sync", 0.85)), "unclear");
});

test("a recording that names its meeting gets its notes and people, also when it was made at another time", async () => {
  const user = await makeUser(app.db, workspace);
  const calendarId = await addCalendar(user.id, [
    { uid: "named", title: "Named", attendees: [{ name: "Jo Named", email: "jo@named.example" }] },
    { uid: "other", title: "Better fit", from: 300, to: 360 },
  ]);
  await pool.query(
    "insert into meeting_notes (calendar_id, user_id, event_key, text) values ($1, $2, md5('named'), 'Ask')",
    [calendarId, user.id],
  );
  await importFrom(user, "named", {
    title: "As I call it",
    start_datetime: new Date(start + 300 * minuteMs).toISOString(),
  });
  const recording = await until("the recording has its meeting", async () => {
    const { rows } = await pool.query(
      `select r.id from recordings r join recording_meetings m on m.recording_id = r.id
       where r.title = 'As I call it'`,
    );
    return rows[0] === undefined ? undefined : view(rows[0].id, user.token);
  });
  assert.equal(recording.calendar_event.ical_uid, "named");
  assert.equal(recording.private_notes.text, "Ask");
  assert.ok(recording.participants.some(({ email }: { email: string }) => email === "jo@named.example"));
  await manage("DELETE", `/recordings/${recording.id}/meeting`, user.token);
  const undone = await view(recording.id, user.token);
  assert.deepEqual(
    [undone.title, undone.calendar_event, undone.participants],
    ["As I call it", null, []],
    "the user's own title stays",
  );
});

test("people whom the record dialog fills in are only invited, without access, as those of an automatic match", async () => {
  const [user, colleague] = [await makeUser(app.db, workspace), await makeUser(app.db, workspace)];
  const attendees = [
    { name: "Cole Colleague", email: colleague.email },
    { name: "Jo", email: "jo@ways.example" },
  ];
  await addCalendar(user.id, [
    { uid: "matched", title: "Matched", from: 6000, to: 6060, organizer: user.email, attendees },
    { uid: "filled-in", title: "Filled in", organizer: user.email, attendees },
  ]);
  const rowsOf = async (id: string) => {
    const { rows } = await pool.query(
      `select name, email, scope, confirmed_attendee, attended, is_invited from participants
       where recording_id = $1 order by position`,
      [id],
    );
    return rows;
  };
  const invited = [{ email: user.email }, ...attendees].map((one) => ({ ...one, is_invited: true }));
  await importFrom(user, "filled-in", {
    title: "Filled in",
    source: "local_capture",
    start_datetime: new Date(start).toISOString(),
    participants: invited,
  });
  const id = await until("the recording has its meeting", async () => {
    const { rows } = await pool.query(
      `select r.id from recordings r join recording_meetings m on m.recording_id = r.id where r.title = 'Filled in'`,
    );
    return rows[0]?.id as string | undefined;
  });
  const rows = await rowsOf(id);
  assert.deepEqual(
    rows.map(({ attended, is_invited }) => [attended, is_invited]),
    invited.map(() => [false, true]),
  );
  assert.deepEqual(rows, await rowsOf(await record(user.token, { from: 6000 })));
  const seen = await call(app, "POST", `/recordings/${id}`, {}, { token: colleague.token });
  assert.equal(seen.status, 404);
});

test("undoing the meeting of a recording that began with its Record button removes the title and people that the button filled in, unless a user changed them", async () => {
  const user = await makeUser(app.db, workspace);
  await addCalendar(user.id, [
    {
      uid: "begun",
      title: "Begun here",
      organizer: user.email,
      attendees: [
        { name: "Jo", email: "jo@begun.example" },
        { name: "Ida", email: "ida@begun.example" },
      ],
    },
  ]);
  await importFrom(user, "begun", {
    title: "Begun here",
    source: "local_capture",
    start_datetime: new Date(start).toISOString(),
    participants: [{ email: "jo@begun.example" }, { name: "A guest" }, { email: "ida@begun.example" }],
  });
  const id = await until("the recording has its meeting", async () => {
    const { rows } = await pool.query(
      `select r.id from recordings r join recording_meetings m on m.recording_id = r.id where r.title = 'Begun here'`,
    );
    return rows[0]?.id as string | undefined;
  });
  const names = (recording: { participants: { name: string }[] }) =>
    recording.participants.map(({ name }) => name);
  const begun = await view(id, user.token);
  assert.deepEqual(names(begun), ["jo@begun.example", "A guest", "ida@begun.example", user.email]);
  const confirmed = await manage(
    "PATCH",
    `/recordings/${id}/participants/${begun.participants[2].id}`,
    user.token,
    { confirmed_attendee: true },
  );
  assert.equal(confirmed.status, 200, JSON.stringify(confirmed));
  await manage("DELETE", `/recordings/${id}/meeting`, user.token);
  const undone = await view(id, user.token);
  assert.deepEqual(
    [undone.title, undone.calendar_event, names(undone)],
    ["Transcript of 2 March 2026", null, ["A guest", "ida@begun.example"]],
  );
});
