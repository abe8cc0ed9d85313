import assert from "node:assert/strict";
import { test } from "node:test";
import { call, startTestApp } from "../../../test/support/app.ts";
import {
  insertRecording,
  makeRecording,
  makeTeam,
  makeUser,
  makeWorkspace,
} from "../../../test/support/factories.ts";
import { dueDateIn } from "./generate/due-date.ts";

const app = await startTestApp();
const workspace = await makeWorkspace(app.db);
const { member } = workspace;
const guest = await makeUser(app.db, workspace);
const ben = await makeUser(app.db, workspace, { name: "Ben Bird" });

interface Given {
  readonly text: string;
  readonly status?: "pending" | "completed";
  readonly due_on?: string;
  readonly isBens?: boolean;
}

/** A recording of the member with these items; Ben takes part; it may be shared with the guest. */
async function makeMeeting(title: string, start: string, given: readonly Given[], isShared = false) {
  const { recordingId } = await makeRecording(app, member.token, {
    title,
    start_datetime: start,
    participants: [{ name: ben.name, email: ben.email, speaker_key: "b" }],
    transcript: { language: "en", segments: [{ speaker_key: "b", start: 0, end: 1000, text: "Hello." }] },
  });
  const { rows } = await app.db.pool.query("select id from participants where recording_id = $1", [
    recordingId,
  ]);
  const items = given.map(({ text, status = "pending", due_on, isBens }, index) => ({
    ...{ id: crypto.randomUUID(), status, timestamp: index * 1000, text, quote: `Quote of ${text}` },
    ...(due_on === undefined ? {} : { due_on }),
    assignee_id: isBens ? rows[0].id : null,
  }));
  await app.db.pool.query("update recordings set ai_action_items = $2 where id = $1", [
    recordingId,
    JSON.stringify(items),
  ]);
  if (isShared)
    await call(
      app,
      "PUT",
      `/recordings/${recordingId}/users`,
      { user_id: guest.id },
      { token: member.token },
    );
  return { recordingId, items };
}

const manage = (method: string, path: string, token: string, body?: unknown) =>
  call(app, method, `/_/api/v1${path}`, body, { token, version: null });

async function list(token: string, query = "") {
  const { status, body, text } = await manage("GET", `/action-items${query}`, token);
  assert.equal(status, 200, text);
  return body;
}
const texts = async (token: string, query = ""): Promise<string[]> =>
  (await list(token, query)).action_items.map(({ text }: { text: string }) => text);

const older = await makeMeeting("Older", "2026-01-05T10:00:00Z", [
  { text: "Send the Größe", isBens: true, due_on: "2026-01-09" },
  { text: "Paint 100% of it", status: "completed" },
]);
const newer = await makeMeeting(
  "Newer",
  "2026-02-05T10:00:00Z",
  [{ text: "Call the port" }, { text: "Sign it", isBens: true }],
  true,
);

test("lists the items of the meetings the caller sees, the newest meeting first, each with its moment", async () => {
  assert.deepEqual(await texts(member.token), [
    "Call the port",
    "Sign it",
    "Send the Größe",
    "Paint 100% of it",
  ]);
  assert.deepEqual(await texts(workspace.token), await texts(member.token));
  assert.deepEqual(await texts(guest.token), ["Call the port", "Sign it"], "only the shared meeting");
  const { action_items: items, cursor } = await list(member.token, "?state=pending&assignee=me");
  assert.deepEqual([items, cursor], [[], null]);
  const [first] = (await list(ben.token, "?assignee=me")).action_items;
  assert.deepEqual(
    [
      first.recording.title,
      first.timestamp,
      first.quote,
      first.due_date,
      first.assignee.user_id,
      first.can_complete,
    ],
    ["Newer", 1000, "Quote of Sign it", null, ben.id, true],
  );
  assert.match(first.recording.url, new RegExp(`/recordings/${newer.recordingId}$`));
});

test("filters: assignee, state, team, meeting type, dates and text, ignoring case and accents", async () => {
  const { token } = workspace;
  assert.deepEqual(await texts(token, "?state=completed"), ["Paint 100% of it"]);
  for (const assignee of [ben.id, ben.email.toUpperCase()])
    assert.deepEqual(await texts(token, `?assignee=${encodeURIComponent(assignee)}`), [
      "Sign it",
      "Send the Größe",
    ]);
  assert.deepEqual(await texts(token, "?assignee=none"), ["Call the port", "Paint 100% of it"]);
  assert.deepEqual(await texts(token, "?text=grosse"), ["Send the Größe"]);
  assert.deepEqual(await texts(token, "?text=100%25"), ["Paint 100% of it"]);
  assert.deepEqual(await texts(token, "?text=i&state=pending"), ["Sign it"], "also a single letter");
  assert.deepEqual(await texts(token, "?from=2026-02-01T00:00:00Z"), ["Call the port", "Sign it"]);
  assert.deepEqual(await texts(token, "?to=2026-02-01T00:00:00Z&assignee=none"), ["Paint 100% of it"]);
  const team = await makeTeam(app.db, workspace);
  await call(
    app,
    "PUT",
    `/recordings/${older.recordingId}/teams`,
    { team_id: team.id },
    { token: member.token },
  );
  assert.deepEqual(await texts(token, `?team=${team.id}`), ["Send the Größe", "Paint 100% of it"]);
  assert.deepEqual(await texts(token, `?team=${team.id}&text=paint`), ["Paint 100% of it"]);
  const type = await manage("POST", "/meeting_types", token, { name: "Port", scope: "external" });
  await app.db.pool.query("update recordings set meeting_type_id = $2 where id = $1", [
    older.recordingId,
    type.body.id,
  ]);
  await manage("PATCH", `/recordings/${older.recordingId}`, member.token, { tags: ["x"] });
  await manage("PATCH", `/recordings/${older.recordingId}`, member.token, { meeting_type_id: type.body.id });
  assert.deepEqual(await texts(token, `?meeting_type=${crypto.randomUUID()}`), []);
  assert.equal((await manage("GET", "/action-items?state=open", token)).status, 400);
  assert.equal((await manage("GET", "/action-items?assignee=me", workspace.token)).status, 400);
});

test("pages by cursor have every item once, and never divide a meeting", async () => {
  const other = await makeWorkspace(app.db);
  for (let index = 0; index < 60; index += 1) {
    const id = await insertRecording(app.db, {
      recorderId: other.member.id,
      start_datetime: new Date(Date.UTC(2026, 0, 1, index)),
    });
    const items = Array.from({ length: 5 }, (_, n) => ({
      ...{ id: crypto.randomUUID(), status: "pending", timestamp: n, text: `Task ${index} ${n}`, quote: "" },
      assignee_id: null,
    }));
    await app.db.pool.query("update recordings set ai_action_items = $2 where id = $1", [
      id,
      JSON.stringify(items),
    ]);
  }
  for (const query of ["?state=pending", "?text=task"]) {
    const found: string[] = [];
    let cursor: string | null = "";
    let pages = 0;
    while (cursor !== null) {
      const page: { action_items: { text: string }[]; cursor: string | null } = await list(
        other.member.token,
        cursor === "" ? query : `${query}&cursor=${cursor}`,
      );
      assert.equal(page.action_items.length % 5, 0);
      found.push(...page.action_items.map(({ text }) => text));
      ({ cursor } = page);
      pages += 1;
    }
    assert.equal(pages, 2);
    assert.equal(found.length, 300);
    assert.equal(new Set(found).size, 300);
    assert.deepEqual([found[0], found.at(-1)], ["Task 59 0", "Task 0 4"]);
  }
  assert.deepEqual(await texts(workspace.token, "?text=task"), [], "other workspaces see none of it");
  assert.equal((await manage("GET", "/action-items?cursor=x", other.member.token)).status, 400);
});

test("a change is there at once: an item that is ticked, an assignee's email, the trash, and an erased item", async () => {
  const { recordingId, items } = await makeMeeting("Changing", "2026-03-01T10:00:00Z", [
    { text: "Tick me", isBens: true },
  ]);
  const query = "?from=2026-02-28T00:00:00Z";
  await manage("PATCH", `/recordings/${recordingId}/action-items/${items[0]?.id}`, member.token, {
    status: "completed",
  });
  assert.deepEqual(await texts(member.token, `${query}&state=completed`), ["Tick me"]);
  await app.db.pool.query("update participants set email = 'new@other.example' where recording_id = $1", [
    recordingId,
  ]);
  assert.deepEqual(await texts(member.token, `${query}&assignee=NEW@other.example`), ["Tick me"]);
  assert.deepEqual(await texts(member.token, `${query}&assignee=${ben.id}`), []);
  await manage("DELETE", `/recordings/${recordingId}`, member.token);
  assert.deepEqual(await texts(member.token, query), []);
  await app.db.pool.query("update recordings set ai_action_items = null where id = $1", [recordingId]);
  const { rows } = await app.db.pool.query("select 1 from action_items where recording_id = $1", [
    recordingId,
  ]);
  assert.deepEqual(rows, []);
});

test("a due date is a date in the quote, and nothing else", () => {
  const start = new Date("2026-11-20T10:00:00Z");
  for (const [quote, date] of [
    ["I will send it by 5 December.", "2026-12-05"],
    ["Until December 5th, 2027, please", "2027-12-05"],
    ["on the 5th of December", "2026-12-05"],
    ["bis zum 5. Dezember 2026 fertig", "2026-12-05"],
    ["bis 5.12.2026", "2026-12-05"],
    ["le 1er décembre", "2026-12-01"],
    ["el 5 de enero", "2027-01-05"],
    ["до 5 декабря", "2026-12-05"],
    ["12月5日までに", "2026-12-05"],
    ["by 2026-12-05", "2026-12-05"],
    ["by 25/12/2026", "2026-12-25"],
    ["by 5/12/2026", null],
    ["by Friday, or tomorrow", null],
    ["It may take 5 days, or we march on", null],
    ["moved from 5 December to 7 December", null],
    ["on 31 February 2027", null],
    ["in December", null],
    ["Option 5 may work, and 12 march on", null],
    ["until December. 20 people come", null],
    ["by 5 May", "2027-05-05"],
    ["by may 5th", "2027-05-05"],
    ["by the 5 of may", "2027-05-05"],
    ["until may 5, 2027", "2027-05-05"],
    ["5".repeat(10_000), null],
  ] as const)
    assert.equal(dueDateIn(quote, start, quote), date, quote.slice(0, 50));
  // The words are compared without their signs, so what was said must name the date, too.
  assert.equal(dueDateIn("by 5.12.2026", start, "We send it by 5/12/2026."), null);
  assert.equal(dueDateIn("option 5 May", start, "Take option 5. May I go?"), null);
  assert.equal(dueDateIn("by may 5", start, "It is done by May 5. Not by June 1."), "2027-05-05");
});
