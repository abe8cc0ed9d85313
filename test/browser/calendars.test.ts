import assert from "node:assert/strict";
import { test } from "node:test";
import type { Locator } from "playwright-core";
import { call } from "../support/app.ts";
import { makeRecording, makeWorkspace } from "../support/factories.ts";
import { startHookReceiver } from "../support/hook-receiver.ts";
import { openRecorderBrowser } from "./record-support.ts";
import {
  assertAccessible,
  desktop,
  phone,
  resize,
  signInAs,
  startBrowserApp,
  visitShared,
} from "./support.ts";

const app = await startBrowserApp({ env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.1/32" } });
const receiver = await startHookReceiver();

type Page = Awaited<ReturnType<typeof visitShared>>["page"];
async function shot(page: Page, name: string): Promise<void> {
  if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}.png` });
}

const stamp = (at: number): string => new Date(at).toISOString().replace(/[-:]|\.\d+/g, "");
const now = Date.now();

/** Meetings that have begun, so that they are listed at any hour. */
const calendar = [
  ...["BEGIN:VCALENDAR", "X-WR-CALNAME:Ada at work"],
  ...["BEGIN:VEVENT", "UID:budget@x.example", `DTSTART:${stamp(now - 300_000)}`, "DURATION:PT1H"],
  ...["SUMMARY:Budget review", 'ATTENDEE;CN="Grace Hopper":mailto:grace@x.example', "END:VEVENT"],
  ...["BEGIN:VEVENT", "UID:dentist", `DTSTART:${stamp(now - 240_000)}`, "DURATION:PT1H", "CLASS:PRIVATE"],
  ...["SUMMARY:Dentist", "END:VEVENT"],
  ...["BEGIN:VEVENT", "UID:broken", "SUMMARY:No start", "END:VEVENT", "END:VCALENDAR", ""],
].join("\r\n");
receiver.at("/secret.ics", (_request, response) => void response.end(calendar));
receiver.at("/page", (_request, response) => void response.end("<html>Sign in</html>"));

test("calendars: a URL that is no calendar is refused with the reason; one is added, shows its state, and is removed", async () => {
  const { admin, member } = await makeWorkspace(app.db);
  const { page, context, complaints } = await visitShared(app, "/settings/calendars", { userId: admin.id });
  await page.getByText("No calendars yet.").waitFor();
  await page.getByText("No room calendars yet.").waitFor();
  await page.getByRole("button", { name: "Add calendar", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Add calendar" });
  await dialog.getByRole("button", { name: "Where to find the URL" }).click();
  await dialog.getByText("Secret address in iCal format").waitFor();
  await assertAccessible(page);
  await shot(page, "calendars-add");
  await dialog.getByRole("textbox", { name: "URL" }).fill(`${receiver.url}/page`);
  const add = dialog.getByRole("button", { name: "Add calendar", exact: true });
  await dialog.getByLabel("Read it without encryption").check({ force: true });
  await add.click();
  await dialog
    .getByText(/calendar/i)
    .last()
    .waitFor();
  await dialog.getByRole("textbox", { name: "URL" }).fill(`${receiver.url}/secret.ics`);
  await add.click();
  await dialog.waitFor({ state: "detached" });
  const row = page.getByRole("list", { name: "Your calendars" }).getByRole("listitem").first();
  await row.getByText("Ada at work").waitFor();
  await row.getByText(/next: Budget review, (to|yester)day, /).waitFor();
  await row.getByText("1 entry could not be understood").waitFor();
  await row.getByText(/^No start: /).waitFor();
  assert.ok(!(await page.content()).includes("secret.ics"), "the URL is not shown again");
  await assertAccessible(page);
  await shot(page, "calendars");

  await page.setViewportSize(phone);
  await page.emulateMedia({ colorScheme: "dark" });
  await row.getByText("Ada at work").waitFor();
  await assertAccessible(page);
  await shot(page, "calendars-phone");
  await page.setViewportSize(desktop);
  await row.getByRole("button", { name: "Remove", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove calendar", exact: true }).click();
  await page.getByText("No calendars yet.").waitFor();
  await signInAs(app, context, member.id);
  await page.goto(`${app.url}/settings/calendars`);
  await page.getByText("No calendars yet.").waitFor();
  assert.equal(await page.getByText("Room calendars").count(), 0);
  assert.deepEqual(complaints.filter(isUnexpected), []);
});

/** The refused URL is a failed request. */
const isUnexpected = (complaint: string): boolean => !complaint.includes("status of 400");

test("an empty library lists the next meetings: notes are written before, and Record fills in everything", async () => {
  const { member } = await makeWorkspace(app.db);
  const { open } = await openRecorderBrowser(app, member.id);
  const { page } = await open();
  await page.getByRole("link", { name: "Add your calendar" }).click();
  await page.getByRole("button", { name: "Add calendar", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Add calendar" });
  await dialog.getByRole("textbox", { name: "URL" }).fill(`${receiver.url}/secret.ics`);
  await dialog.getByLabel("Read it without encryption").check({ force: true });
  await dialog.getByRole("button", { name: "Add calendar", exact: true }).click();
  await page.getByRole("list", { name: "Your calendars" }).waitFor();
  await page.getByRole("link", { name: "Library", exact: true }).click();
  const meetings = page.getByRole("list", { name: "Next meetings" });
  await meetings.getByText("Budget review").waitFor();
  await meetings.getByText("Private event").waitFor();
  assert.equal(await meetings.getByText("Now", { exact: true }).count(), 2);
  assert.equal(await page.getByText("Dentist").count(), 0);
  await assertAccessible(page);
  await shot(page, "meetings-library");

  await meetings.getByRole("link", { name: "Notes for Budget review" }).click();
  await page.getByRole("heading", { name: "Budget review", level: 1 }).waitFor();
  await page.getByText("Grace Hopper").waitFor();
  await page.getByLabel("Your notes").fill("Ask about travel costs");
  await page.getByText("Saved", { exact: true }).waitFor();
  await page.reload();
  await page.getByText("Ask about travel costs").waitFor();
  await assertAccessible(page);
  await shot(page, "meeting");
  await page.setViewportSize(phone);
  await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
  await shot(page, "meeting-phone");

  await page.getByRole("button", { name: "Record this meeting", exact: true }).click();
  const setup = page.getByRole("dialog", { name: "Record a meeting" });
  assert.equal(await setup.getByLabel("Title").inputValue(), "Budget review");
  await setup.getByText("grace@x.example").waitFor();
  await assertAccessible(page);
  await shot(page, "record-meeting-phone");
  const start = setup.getByRole("button", { name: "Start recording", exact: true });
  await assertInView(start, phone.height);
  await page.setViewportSize({ width: 1280, height: 720 });
  await assertInView(start, 720);
  // Another click takes it back, and the row fills it in again.
  await setup.getByRole("button", { name: "Chosen: Budget review", pressed: true }).click();
  assert.equal(await setup.getByLabel("Title").inputValue(), "");
  await setup.getByRole("button", { name: "Choose Budget review", pressed: false }).click();
  await shot(page, "record-meeting");
  const [request] = await Promise.all([
    page.waitForRequest((one) => one.method() === "POST" && one.url().endsWith("/_/api/v1/recordings")),
    start.click(),
  ]);
  const body = request.postDataJSON();
  assert.deepEqual(
    [body.title, body.participants, body.calendar_event.ical_uid],
    [
      "Budget review",
      [{ name: "Grace Hopper", email: "grace@x.example", is_invited: true }],
      "budget@x.example",
    ],
  );
  await page.getByRole("region", { name: "Recording" }).waitFor();
});

/** Without scrolling, at the start of a long dialog. */
async function assertInView(button: Locator, height: number): Promise<void> {
  const box = await button.boundingBox();
  assert.ok(box !== null && box.y > 0 && box.y + box.height <= height, JSON.stringify(box));
}

test("a library with recordings has the next meetings in a row above them, which moves nothing, and records them", async () => {
  const { id: workspaceId, member } = await makeWorkspace(app.db);
  const { recordingId } = await makeRecording(app, member.token, { title: "Kickoff" });
  const { page, complaints } = await visitShared(app, "/", { userId: member.id });
  const kickoff = page.getByRole("link", { name: "Kickoff", exact: true });
  await kickoff.waitFor();
  await page.waitForLoadState("networkidle");
  assert.equal(await page.getByText("Next meetings").count(), 0, "nothing without a calendar");
  const { rows } = await app.db.pool.query(
    `insert into calendars (id, workspace_id, user_id, kind, name, host, secrets, time_zone, next_read_at)
     values (gen_random_uuid(), $1, $2, 'ics', 'Work', 'example', '', 'UTC', 'infinity') returning id`,
    [workspaceId, member.id],
  );
  await page.reload();
  await page.getByText("No more meetings today.").waitFor();
  const place = await kickoff.boundingBox();
  for (const [index, title] of ["Launch review", "Interview", "Retrospective", "Planning"].entries())
    await app.db.pool.query(
      `insert into calendar_events (id, calendar_id, key, start_at, end_at, is_all_day, is_private, ical_uid, title,
         organizer, attendees)
       values (gen_random_uuid(), $1, md5($2), now() - interval '1 minute' * (9 - $3), now() + interval '1 hour', false,
         false, $2, $2, null, '[{"name": "Grace Hopper", "email": "grace@x.example"}]')`,
      [rows[0].id, title, index],
    );
  await page.reload();
  const meetings = page.getByRole("list", { name: "Next meetings" });
  await meetings.getByText("Now", { exact: true }).first().waitFor();
  assert.deepEqual(await kickoff.boundingBox(), place);
  for (const [size, colorScheme] of [
    [phone, "dark"],
    [phone, "light"],
    [desktop, "dark"],
    [desktop, "light"],
  ] as const) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme });
    await meetings.getByText("Launch review").waitFor();
    assert.equal(await meetings.getByRole("listitem").count(), 3);
    await assertAccessible(page);
    await shot(page, `library-meetings-${size.width}-${colorScheme}`);
  }
  await meetings.getByRole("button", { name: "Record Launch review", exact: true }).click();
  const setup = page.getByRole("dialog", { name: "Record a meeting" });
  assert.equal(await setup.getByLabel("Title").inputValue(), "Launch review");
  await setup.getByText("Grace Hopper", { exact: true }).scrollIntoViewIfNeeded();
  await setup.getByText("grace@x.example", { exact: true }).waitFor();
  await shot(page, "library-meetings-record");
  assert.deepEqual(complaints, []);

  await app.db.pool.query(
    `insert into recording_meetings (recording_id, state, event_key) values ($1, 'matched', md5('Launch review'))
     on conflict (recording_id) do update set state = excluded.state, event_key = excluded.event_key`,
    [recordingId],
  );
  await page.reload();
  const recorded = meetings.getByRole("link", { name: "Recorded: Launch review", exact: true });
  await recorded.waitFor();
  assert.equal(await meetings.getByRole("button", { name: "Record Launch review", exact: true }).count(), 0);
  await assertAccessible(page);
  await shot(page, "library-meetings-recorded");
  await recorded.click();
  await page.getByRole("heading", { name: "Kickoff", level: 1 }).waitFor();
});

test("the record dialog chooses the one meeting that takes place now, and the user can leave it", async () => {
  const { id: workspaceId, member } = await makeWorkspace(app.db);
  const { rows } = await app.db.pool.query(
    `insert into calendars (id, workspace_id, user_id, kind, name, host, secrets, time_zone, next_read_at)
     values (gen_random_uuid(), $1, $2, 'ics', 'Work', 'example', '', 'UTC', 'infinity') returning id`,
    [workspaceId, member.id],
  );
  const addEvent = (title: string) =>
    app.db.pool.query(
      `insert into calendar_events (id, calendar_id, key, start_at, end_at, is_all_day, is_private, ical_uid, title,
         organizer, attendees)
       values (gen_random_uuid(), $1, md5($2), now() - interval '5 minutes', now() + interval '1 hour', false, false,
         $2, $2, null, '[{"name": "Grace Hopper", "email": "grace@x.example"}]')`,
      [rows[0].id, title],
    );
  await addEvent("Standup");
  const { page, complaints } = await visitShared(app, "/highlights", { userId: member.id });
  const open = async () => {
    await page.getByRole("banner").getByRole("button", { name: "Record", exact: true }).click();
    return page.getByRole("dialog", { name: "Record a meeting" });
  };
  const setup = await open();
  const chosen = setup.getByRole("button", { name: "Chosen: Standup", exact: true });
  await chosen.waitFor();
  assert.equal(await setup.getByLabel("Title").inputValue(), "Standup");
  await setup.getByText("grace@x.example").waitFor();
  await shot(page, "record-chosen");
  await chosen.click();
  await setup.getByRole("button", { name: "Choose Standup", exact: true }).waitFor();
  assert.equal(await setup.getByLabel("Title").inputValue(), "");
  await setup.getByRole("button", { name: "Cancel", exact: true }).click();
  await setup.waitFor({ state: "detached" });

  await addEvent("Interview");
  await page.reload();
  await open();
  await setup.getByRole("button", { name: "Choose Interview", exact: true }).waitFor();
  assert.equal(await setup.getByRole("button", { name: /^Chosen/ }).count(), 0, "of two, none is guessed");
  assert.deepEqual(complaints, []);
});

test("where two meetings fit equally the page asks which it was; the choice names the recording, and is undone", async () => {
  const { id: workspaceId, member } = await makeWorkspace(app.db);
  const { pool } = app.db;
  const start = Date.parse("2026-03-02T10:00:00Z");
  const { rows } = await pool.query(
    `insert into calendars (id, workspace_id, user_id, kind, name, host, secrets, time_zone, next_read_at)
     values (gen_random_uuid(), $1, $2, 'ics', 'Work', 'example', '', 'UTC', 'infinity') returning id`,
    [workspaceId, member.id],
  );
  for (const title of ["Roadmap", "Hiring"])
    await pool.query(
      `insert into calendar_events (id, calendar_id, key, start_at, end_at, is_all_day, is_private, ical_uid, title,
         organizer, attendees)
       values (gen_random_uuid(), $1, md5($2), $3, $4, false, false, $2, $2, null, '[]')`,
      [rows[0].id, title, new Date(start), new Date(start + 12_000)],
    );
  const { recordingId } = await makeRecording(app, member.token, {
    title: undefined,
    start_datetime: new Date(start).toISOString(),
  });
  const chooseElsewhere = async (title: string): Promise<void> => {
    const path = `/_/api/v1/recordings/${recordingId}/meeting`;
    const as = { token: member.token, version: null };
    const { candidates } = (await call(app, "GET", path, undefined, as)).body;
    const { id } = candidates.find((one: { title: string }) => one.title === title);
    assert.equal((await call(app, "PUT", path, { meeting_id: id }, as)).status, 200);
  };
  const { page, complaints } = await visitShared(app, `/recordings/${recordingId}?tab=details`, {
    userId: member.id,
  });
  const question = page.getByRole("alert", { name: "Which meeting was this?" });
  await question.getByRole("button", { name: "Choose Roadmap", exact: true }).waitFor();
  await assertAccessible(page);
  await shot(page, "meeting-question");
  await question.getByRole("button", { name: "Choose Roadmap", exact: true }).click();
  await question.waitFor({ state: "detached" });
  const undo = page.getByRole("button", { name: "Unlink meeting", exact: true });
  await undo.waitFor();
  await page.getByRole("heading", { name: "Roadmap" }).waitFor();
  await page.getByRole("button", { name: "Change meeting", exact: true }).click();
  for (const size of [desktop, phone]) {
    await resize(page, size);
    await page.getByRole("button", { name: "Choose Hiring", exact: true }).waitFor();
    await assertAccessible(page);
    await shot(page, `meeting-details-${size.width}`);
  }
  await page.getByText("From a meeting in a calendar: title and scheduled time.").waitFor();
  await page.getByText("A user chose the meeting.").waitFor();
  await undo.click();
  await page.getByRole("button", { name: "Choose meeting", exact: true }).waitFor();
  await page.getByRole("heading", { name: "Roadmap" }).waitFor({ state: "detached" });
  await shot(page, "meeting-unlinked");
  await page.getByRole("alert").getByRole("button", { name: "Undo", exact: true }).click();
  await page.getByRole("heading", { name: "Roadmap" }).waitFor();
  await undo.click();
  await page.getByRole("heading", { name: "Roadmap" }).waitFor({ state: "detached" });
  await chooseElsewhere("Hiring");
  // Any change makes the page read the recording again, and with it the meeting.
  await page.getByRole("button", { name: "Add tag", exact: true }).click();
  await page.getByRole("textbox", { name: "New tag" }).fill("plan");
  await page.keyboard.press("Enter");
  await undo.waitFor();
  await page.getByRole("heading", { name: "Hiring" }).waitFor();
  assert.deepEqual(complaints, []);
});
