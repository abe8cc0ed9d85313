import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { sql } from "kysely";
import type { Page } from "playwright-core";
import { demoMeetings } from "../../demo/content/meetings/index.ts";
import type { DemoMeeting } from "../../demo/content/types.ts";
import { fillDemo } from "../../demo/fill.ts";
import { mediaFile } from "../support/factories.ts";
import { startHookReceiver } from "../support/hook-receiver.ts";
import { until } from "../support/until.ts";
import { checkGuide, isUpdating, job } from "./guide-support.ts";
import { startBrowserApp } from "./support.ts";
import { createTour } from "./tour.ts";

/**
 * Performs each job of docs/guide in a browser on the sample workspace. To add one: a `job` with a `picture` or two, and a guide
 * page that shows them; then `UPDATE_DOCS=1 node test/run.ts test/browser/guide.test.ts`.
 */
const app = await startBrowserApp({ env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.1/32" } });
const meeting = "Heron 2: go or no-go";
const standUp = "Launch stand-up: four days to go";
const withoutMedia = ({ media, highlights, ...rest }: DemoMeeting): DemoMeeting => rest;
// The screenshots show all meetings. The jobs need the video of one, and only the title and type of another.
const needed = demoMeetings.flatMap((each) =>
  each.title === meeting ? [each] : each.title === standUp ? [withoutMedia(each)] : [],
);
await fillDemo(app, isUpdating ? { minutes: null } : { minutes: 1.2, meetings: needed });
// Without a Japanese font it would be rendered as boxes.
await sql`update recordings set tags = array_remove(tags, '日本-launch')`.execute(app.db.kysely);

const { id } = await app.db.kysely
  .selectFrom("recordings")
  .select("id")
  .where("title", "=", meeting)
  .executeTakeFirstOrThrow();
const recordingPath = `/recordings/${id}`;

const admin = "marit.aalvik@wrackline.example";
const member = "gwen.pritchard-owusu@wrackline.example";

/** Narrows the library to the meeting: rows out of view are not in the page. */
async function find(page: Page): Promise<void> {
  await page.getByLabel("Title", { exact: true }).fill(meeting);
  await page.getByRole("link", { name: meeting }).first().waitFor();
}

job(app, "sign in", { path: "/sign-in" }, async ({ page, picture }) => {
  await page.getByLabel("Email").waitFor();
  await page.getByLabel("Password", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Sign in", exact: true }).waitFor();
  await picture("sign-in");
});

job(app, "find a recording in the library", { path: "/", email: member }, async ({ page, picture }) => {
  const rows = page.locator("main a[href^='/recordings/']");
  await rows.first().waitFor();
  await picture("library");
  await page.locator("label", { hasText: "Grid" }).click();
  await page.waitForURL(/view=grid/);
  await rows.first().waitFor();
  await picture("library-grid");
  await find(page);
  await page.getByRole("combobox", { name: "Meeting type" }).click();
  await page.getByRole("option", { name: "Stand-up" }).click();
  await page.getByLabel("Title", { exact: true }).fill("");
  await page.getByRole("link", { name: meeting }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: standUp }).waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await rows.first().waitFor();
});

job(app, "search recordings", { path: "/", email: member }, async ({ page, picture }) => {
  await page.getByRole("searchbox", { name: "Search recordings and transcripts" }).fill("tank");
  await page.keyboard.press("Enter");
  const found = page.getByRole("list", { name: "Results" }).getByRole("article", { name: meeting });
  await found.getByRole("link", { name: /tank/ }).first().waitFor();
  await picture("search");
  await found.getByRole("link", { name: /tank/ }).first().click();
  await page.waitForURL(/\/recordings\/[0-9a-f-]{36}\?.*t=/);
});

job(app, "watch and read", { path: "/", email: member }, async ({ page, picture }) => {
  await find(page);
  await page.getByRole("link", { name: meeting }).first().click();
  await page.getByRole("list", { name: "Transcript" }).waitFor();
  await page.evaluate("document.querySelector('video').muted = true");
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await page.getByRole("list", { name: "Transcript" }).getByText("Seven of forty.").click();
  await until("the line plays", () =>
    page.evaluate<boolean>("document.querySelector('video').currentTime > 39.5"),
  );
  await page.locator('button[aria-current="true"]').waitFor();
  await page.mouse.move(900, 130);
  assert.deepEqual(
    await page.evaluate(
      "[...document.querySelectorAll('[role=tab]')].filter((tab) => tab.getBoundingClientRect().right > tab.parentElement.getBoundingClientRect().right).map((tab) => tab.textContent)",
    ),
    [],
    "every tab fits beside the picture",
  );
  await picture("recording");
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  await page.getByLabel("Search transcript").fill("forty");
  await page.getByRole("button", { name: "Next match" }).click();
  await page.getByLabel("Search transcript").fill("");
  await page.getByRole("region", { name: "Speaker timeline" }).getByRole("button").first().focus();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await picture("keys");
  await page.keyboard.press("Escape");
});

job(app, "correct a transcript", { path: recordingPath, email: member }, async ({ page, picture }) => {
  const words = page.getByRole("list", { name: "Transcript" });
  await words.getByText("I would also like us to leave before ten").dblclick();
  const field = page.getByLabel("Line text");
  await field.fill("I would also like us to leave before ten, because I have the bank at a quarter past.");
  await picture("correct-text");
  await page.keyboard.press("Enter");
  await words.getByText("at a quarter past.").waitFor();
  await page.getByRole("button", { name: "Undo last edit" }).click();
  await words.getByText("at ten fifteen.").waitFor();
  await words.getByRole("button", { name: "Marit Aalvik", exact: true }).first().click();
  const dialog = page.getByRole("dialog", { name: "Who is speaking?" });
  await dialog.getByRole("button", { name: "Change" }).waitFor();
  await picture("correct-speaker");
  await page.keyboard.press("Escape");
});

job(
  app,
  "comment with a mention",
  { path: `${recordingPath}?t=22`, email: member },
  async ({ page, picture }) => {
    await page.getByRole("tab", { name: /^Comments/ }).click();
    const field = page.getByRole("textbox", { name: "New comment" });
    await field.click();
    await page.keyboard.type("@mar");
    await page.getByRole("option", { name: /Marit Aalvik/ }).click();
    await page.keyboard.type("is this date **final**?");
    await page.getByRole("button", { name: "Comment", exact: true }).click();
    const comments = page.getByRole("article", { name: /^Comment by/ });
    await comments.getByText("is this date final?").waitFor();
    await picture("comments");
  },
);

job(app, "read a notification and reply", { path: "/", email: admin }, async ({ page, picture }) => {
  const goTo = createTour(page);
  await page.getByRole("button", { name: /^Notifications, \d+ unread$/ }).click();
  const group = page.getByRole("region", { name: meeting });
  await group.getByText("is this date final?").waitFor();
  await picture("notifications");
  await group.getByRole("link", { name: /mentioned you/ }).click();
  await page.getByRole("button", { name: "Reply", exact: true }).click();
  await page.getByRole("textbox", { name: "Reply" }).fill("Yes, it is.");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("article", { name: "Comment by Marit Aalvik" }).getByText("Yes, it is.").waitFor();
  await page.getByRole("button", { name: "Resolve", exact: true }).waitFor();
  await goTo("/settings/notifications");
  await page.getByRole("combobox", { name: "Someone mentions me in a comment" }).waitFor();
  await picture("notification-settings");
});

job(app, "create a clip and a story", { path: recordingPath, email: member }, async ({ page, picture }) => {
  const words = page.getByRole("list", { name: "Transcript" }).getByText("Seven of forty. So that is, what");
  await words.scrollIntoViewIfNeeded();
  const box = await words.boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + 4, box.y + 10);
  await page.mouse.down();
  await page.mouse.move(box.x + 200, box.y + 12, { steps: 5 });
  await page.mouse.up();
  await page.getByRole("toolbar", { name: "Selected words" }).waitFor();
  await picture("select-words");
  await page.getByRole("button", { name: "Clip", exact: true }).click();
  await page.getByRole("dialog", { name: "New clip" }).getByLabel("Title").fill("How bad is it?");
  await page.getByRole("button", { name: "Create clip" }).click();
  await page.getByRole("dialog", { name: "New clip" }).waitFor({ state: "detached" });

  await page.getByRole("link", { name: "Highlights" }).click();
  await page.getByRole("button", { name: "Actions for How bad is it?" }).click();
  await page.getByRole("menuitem", { name: "Add to story" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await picture("highlights");

  await page.getByRole("link", { name: "Stories" }).click();
  await page.getByRole("button", { name: "Create story" }).waitFor();
  await page.getByRole("link", { name: "How Heron 2 got its date" }).first().click();
  await page
    .getByRole("region", { name: "Player" })
    .getByRole("button", { name: "Play", exact: true })
    .waitFor();
  await page.getByRole("region", { name: "Order" }).waitFor();
  await picture("story");
});

job(app, "record in the browser", { path: "/", email: member }, async ({ page, picture }) => {
  await page.getByRole("banner").getByRole("button", { name: "Record" }).click();
  const dialog = page.getByRole("dialog", { name: "Record a meeting" });
  for (const choice of ["Screen", "Camera", "Sound only"])
    await dialog.getByText(choice, { exact: true }).waitFor();
  await dialog.getByLabel("Title").fill("Harbour contract");
  await dialog.getByRole("button", { name: "Start recording" }).waitFor();
  await picture("record");
  await page.keyboard.press("Escape");
});

job(
  app,
  "send summaries to Slack",
  { path: "/settings/deliveries", email: member },
  async ({ page, picture }) => {
    const slack = await startHookReceiver();
    await page.getByRole("button", { name: "Create delivery" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name", { exact: true }).fill("#launch");
    await dialog.getByLabel("Webhook URL").fill("https://hooks.slack.com/services/T000/B000/xxxx");
    await dialog.getByLabel("Tag").fill("launch");
    await picture("delivery");
    await dialog.getByLabel("Webhook URL").fill(`${slack.url}/services/T000`);
    await dialog.getByRole("button", { name: "Create delivery" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Test #launch" }).click();
    await page.getByText("The test succeeded (status 200)").waitFor();
    await page.getByRole("button", { name: "Log of #launch" }).waitFor();
  },
);

const stamp = (at: number): string => new Date(at).toISOString().replace(/[-:]|\.\d+/g, "");

job(
  app,
  "add a calendar and record the next meeting",
  { path: "/settings/calendars", email: member },
  async ({ page, picture }) => {
    const server = await startHookReceiver();
    // It has begun, so that it is listed at any hour.
    const event = [
      ...["UID:harbour@wrackline.example", `DTSTART:${stamp(Date.now() - 300_000)}`, "DURATION:PT1H"],
      ...["SUMMARY:Harbour contract", "ATTENDEE;CN=Nomvula Khoza:mailto:nomvula.khoza@wrackline.example"],
    ];
    const lines = ["BEGIN:VCALENDAR", "X-WR-CALNAME:Work", "BEGIN:VEVENT", ...event, "END:VEVENT"];
    server.at("/basic.ics", (_request, response) => {
      response.end([...lines, "END:VCALENDAR", ""].join("\r\n"));
    });
    await page.getByRole("button", { name: "Add calendar", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Add calendar" });
    await dialog.getByRole("button", { name: "Where to find the URL" }).click();
    await dialog.getByText("Secret address in iCal format").waitFor();
    await picture("calendar");
    await dialog.getByRole("textbox", { name: "URL" }).fill(`${server.url}/basic.ics`);
    await dialog.getByLabel("Read it without encryption").check({ force: true });
    await dialog.getByRole("button", { name: "Add calendar", exact: true }).click();
    await page.getByRole("list", { name: "Your calendars" }).getByText("Work", { exact: true }).waitFor();
    await page.getByRole("banner").getByRole("button", { name: "Record" }).click();
    const setup = page.getByRole("dialog", { name: "Record a meeting" });
    await setup.getByRole("button", { name: "Chosen: Harbour contract" }).waitFor();
    assert.equal(await setup.getByLabel("Title").inputValue(), "Harbour contract");
    await setup.getByText("nomvula.khoza@wrackline.example").waitFor();
    await picture("record-meeting");
    await setup.getByRole("button", { name: "Start recording" }).waitFor();
    await setup.getByRole("link", { name: "Notes for Harbour contract" }).click();
    await setup.waitFor({ state: "detached" });
    await page.getByLabel("Your notes").fill("Ask about the berth");
    await page.getByText("Saved", { exact: true }).waitFor();
  },
);

job(app, "upload", { path: "/uploads", email: member }, async ({ page, picture }) => {
  const buffer = readFileSync(mediaFile("good-faststart.mp4"));
  await page.getByRole("switch", { name: /Review uploads before publishing/ }).waitFor();
  await page
    .getByLabel("Choose files to upload")
    .setInputFiles({ name: "Visit to the harbour.mp4", mimeType: "video/mp4", buffer });
  const row = page
    .getByRole("region", { name: "Your uploads" })
    .getByRole("listitem")
    .filter({ hasText: "Visit" });
  await row.getByText("Ready", { exact: true }).waitFor({ timeout: 60_000 });
  await picture("uploads");
});

job(app, "invite users", { path: "/settings/users", email: admin }, async ({ page, picture }) => {
  await page.getByRole("listitem").filter({ hasText: "Nomvula Khoza" }).waitFor();
  await picture("people");
  await page.getByRole("button", { name: "Invite user" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("Inês Valadares");
  await dialog.getByRole("textbox", { name: "Email" }).fill("ines.valadares@wrackline.example");
  await picture("invite");
  await dialog.getByRole("button", { name: "Create invitation" }).click();
  await dialog.getByLabel("Link", { exact: true }).waitFor();
  await dialog.getByRole("button", { name: "Done" }).click();
  const person = page.getByRole("listitem").filter({ hasText: "Inês Valadares" });
  await person.getByRole("button", { name: /^Actions for/ }).click();
  await page.getByRole("menuitem", { name: "Make viewer" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("navigation", { name: "Settings" }).getByText("Teams").click();
  await page.getByRole("button", { name: "Create team" }).waitFor();
  await page.getByRole("listitem").filter({ hasText: "Customers" }).first().waitFor();
  await picture("teams");
});

job(
  app,
  "connect a program with a token",
  { path: "/settings/tokens", email: admin },
  async ({ page, picture }) => {
    await page.getByRole("button", { name: "Create token" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Name" }).fill("Nightly export");
    await picture("token");
    await dialog.getByRole("button", { name: "Create token" }).click();
    assert.match(await dialog.getByLabel("Token", { exact: true }).inputValue(), /^parley_/);
    await dialog.getByRole("button", { name: "Done" }).click();
    await page.getByRole("button", { name: "Revoke Nightly export" }).waitFor();
  },
);

job(
  app,
  "connect a program with a webhook",
  { path: "/settings/webhooks", email: admin, expected: /status of 400/ },
  async ({ page, picture }) => {
    await page.getByRole("button", { name: "Create webhook" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("URL").fill("https://hooks.example.com/parley");
    await picture("hook");
    await dialog.getByRole("button", { name: "Create webhook" }).waitFor();
    await page.keyboard.press("Escape");
  },
);

job(app, "data governance", { path: "/settings/retention", email: admin }, async ({ page, picture }) => {
  await page.getByRole("heading", { name: "Retention" }).first().waitFor();
  await picture("retention");
});

job(app, "authorize an app", { path: "/settings/clients", email: admin }, async ({ page, picture }) => {
  await page.getByRole("button", { name: "Create app" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("Harbour notes");
  await dialog.getByRole("textbox", { name: "Redirect URIs" }).fill("https://app.example.com/callback");
  await picture("app");
  await dialog.getByRole("button", { name: "Create app" }).click();
  await dialog.getByLabel("Client secret").waitFor();
  await dialog.getByRole("button", { name: "Done" }).click();
});

job(app, "read the audit log", { path: "/settings/audit", email: admin }, async ({ page, picture }) => {
  await page.getByRole("list", { name: "Audit log" }).getByRole("listitem").first().waitFor();
  await page.getByRole("link", { name: "CSV" }).waitFor();
  await picture("audit");
});

job(app, "share by a link", { path: recordingPath, email: admin }, async ({ page, picture }) => {
  await page.getByRole("button", { name: "Share", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Share" });
  await dialog.getByLabel("Public").click();
  const link = dialog.getByRole("textbox", { name: "Link 1" });
  await link.waitFor();
  for (const name of ["Copy", "Delete"])
    await dialog.getByRole("region", { name: "Link 1" }).getByRole("button", { name }).first().waitFor();
  await dialog.getByRole("button", { name: "Add link" }).waitFor();
  await picture("share");
  const url = await link.inputValue();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  // A request of the open page would be refused without the cookie.
  await page.goto("about:blank");
  await page.context().clearCookies();
  await page.goto(url);
  await page.getByRole("heading", { name: meeting }).waitFor();
  await page.getByRole("list", { name: "Transcript" }).getByText("Seven of forty.").waitFor();
  await picture("public-link");
});

checkGuide();
