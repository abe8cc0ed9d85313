import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { call } from "../support/app.ts";
import { makeUser, makeWorkspace, type TestUser } from "../support/factories.ts";
import { until } from "../support/until.ts";
import { linkTools, pathOf } from "./link-support.ts";
import { assertAccessibleAtRest, makeMedia } from "./recording-support.ts";
import {
  desktop,
  phone,
  resize,
  signInAs,
  startBrowserApp,
  type VisitOptions,
  visitShared,
} from "./support.ts";

const app = await startBrowserApp();
const workspace = await makeWorkspace(app.db);
const { member, admin } = workspace;
const ben = await makeUser(app.db, workspace, { name: "Ben Ito" });

const manage = (method: string, path: string, body?: unknown, { token }: Pick<TestUser, "token"> = member) =>
  call(app, method, `/_/api/v1${path}`, body, { token, version: null });

/** A recording that everyone in the workspace sees. */
async function shared(): Promise<string> {
  const id = await makeMedia(app, member.token);
  await manage("PATCH", `/recordings/${id}`, { share_state: "workspace" });
  return id;
}

async function post(id: string, body: object, user: Pick<TestUser, "token"> = ben): Promise<string> {
  const { status, body: comment, text } = await manage("POST", `/recordings/${id}/comments`, body, user);
  assert.equal(status, 200, text);
  return comment.id;
}
const listed = async (id: string) => (await manage("GET", `/recordings/${id}/comments`)).body.comments;

async function open(path: string, options: VisitOptions = {}) {
  const visited = await visitShared(app, `/recordings/${path}`, { userId: member.id, ...options });
  await visited.page.getByRole("heading", { level: 1 }).waitFor();
  return visited;
}

async function picture(page: Page, name: string): Promise<void> {
  if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}.png` });
}

test("comments: written at the moment, replied to, edited, reacted to, resolved, reopened and deleted", async () => {
  const id = await shared();
  const { page, complaints } = await open(`${id}?tab=comments&t=5`);
  await page.getByText("No comments").waitFor();
  await assertAccessibleAtRest(page);
  const field = page.getByRole("textbox", { name: "New comment" });
  await field.fill("Is **this** final? See https://example.com/a.");
  await page.getByRole("button", { name: "Comment", exact: true }).click();
  const thread = page.getByRole("listitem", { name: "At 0:05" });
  await thread.getByText("Is this final?").waitFor();
  assert.equal(await field.inputValue(), "");
  assert.equal(await thread.locator("strong").textContent(), "this");
  assert.equal(await thread.getByRole("link").getAttribute("href"), "https://example.com/a");
  assert.equal((await listed(id))[0].timestamp, 5000);
  await page.getByRole("tab", { name: "Comments 1" }).waitFor();

  // Another user's reply appears without a reload.
  const [first] = await listed(id);
  await post(id, { text: "Not yet", parent_id: first.id });
  await thread.getByText("Not yet").waitFor();

  await thread.getByRole("button", { name: "Reply" }).click();
  await thread.getByRole("textbox", { name: "Reply" }).fill("Then tomorrow");
  await page.keyboard.press("Control+Enter");
  const own = thread.getByRole("article", { name: `Comment by ${member.name}` });
  await own.last().getByText("Then tomorrow").waitFor();
  await own
    .last()
    .getByRole("button", { name: /^Actions/ })
    .click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  const edit = thread.getByRole("textbox", { name: "Edit comment" });
  assert.equal(await edit.inputValue(), "Then tomorrow");
  await edit.fill("Then on Friday");
  await thread.getByRole("button", { name: "Save" }).click();
  await thread.getByText("(edited)").waitFor();

  const bens = thread.getByRole("article", { name: "Comment by Ben Ito" });
  await bens.getByRole("button", { name: "Add reaction" }).click();
  await page.getByRole("button", { name: "Thumbs up" }).click();
  await bens.getByRole("button", { name: /^👍 1: / }).waitFor();
  await bens.getByRole("button", { name: /^Actions/ }).click();
  await page.getByRole("menuitem", { name: "Copy link" }).waitFor();
  assert.equal(await page.getByRole("menuitem", { name: /Edit|Delete/ }).count(), 0);
  await page.keyboard.press("Escape");
  await assertAccessibleAtRest(page);
  await picture(page, "comments");

  await own
    .last()
    .getByRole("button", { name: /^Actions/ })
    .click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete comment" }).click();
  await until("it is deleted", async () => (await listed(id)).length === 2);
  await thread.getByRole("button", { name: "Resolve" }).click();
  await page.getByText("No open comments").waitFor();
  await page.getByText("Resolved (1)").click();
  await thread.getByText(`Resolved by ${member.name}`).waitFor();
  await thread.getByRole("button", { name: "Reopen" }).click();
  await page.getByText("No resolved comments").waitFor();
  assert.deepEqual(complaints, []);
});

test("comments: N starts one at the moment of the player, and a draft survives another tab", async () => {
  const id = await shared();
  const { page, complaints } = await open(`${id}?t=7`);
  await page.getByRole("slider", { name: "Seek" }).waitFor();
  await page.keyboard.press("n");
  const field = page.getByRole("textbox", { name: "New comment" });
  await until("the field has the focus", () =>
    page.evaluate<boolean>("document.activeElement?.ariaLabel === 'New comment'"),
  );
  await page.getByText("At 0:07").waitFor();
  await page.keyboard.type("At seven");
  await page.getByRole("tab", { name: "Details" }).click();
  await field.waitFor({ state: "detached" });
  await page.getByRole("tab", { name: "Comments" }).click();
  assert.equal(await field.inputValue(), "At seven");
  await page.getByText("At 0:07").waitFor();
  await field.fill("x".repeat(5001));
  await page.getByText("5,001 of 5,000 characters").waitFor();
  assert.ok(await page.getByRole("button", { name: "Comment", exact: true }).isDisabled());
  await field.fill("About it all");
  await page.getByText("Whole recording").click();
  await page.getByRole("button", { name: "Comment", exact: true }).click();
  await page.getByRole("listitem", { name: "Whole recording" }).getByText("About it all").waitFor();
  assert.equal((await listed(id))[0].timestamp, null);
  assert.deepEqual(complaints, []);
});

test("comments: a mark on the seek bar seeks and opens its thread, and one in the transcript opens it", async () => {
  const id = await shared();
  await post(id, { text: "Which Friday?", timestamp: 6000 });
  const last = await post(id, { text: "Send me **one** too", timestamp: 8000 });
  const resolved = await post(id, { text: "Done", timestamp: 1000 });
  await manage("POST", `/comments/${resolved}/resolve`, {}, ben);
  const { page, complaints } = await open(id, { colorScheme: "dark" });
  const marks = page.locator("[data-marker=comment]");
  await until("the open ones are marked", async () => (await marks.count()) === 2);
  await marks.last().hover();
  await page.getByText("0:08 · Ben Ito: Send me one too").waitFor();
  await picture(page, "comments-marks-dark");
  await page.getByRole("button", { name: "Comments at 0:05: 1" }).click();
  await page.locator("article[data-opened]").getByText("Which Friday?").waitFor();
  await marks.last().click();
  const opened = page.locator("article[data-opened]");
  await opened.getByText("Send me one too").waitFor();
  await page.getByRole("region", { name: "Player" }).getByText("0:08 ", { exact: true }).first().waitFor();
  await until("it has the focus", () =>
    page.evaluate<boolean>("document.activeElement?.matches('article[data-opened]')"),
  );
  await picture(page, "comments-opened-dark");
  await manage("DELETE", `/comments/${last}`, undefined, ben);
  await until("the mark is gone", async () => (await marks.count()) === 1);
  assert.deepEqual(complaints, []);
});

test("comments: @ offers people by keyboard, those who see the recording first; others only after it was shared by a click", async () => {
  const id = await makeMedia(app, member.token);
  const amy = await makeUser(app.db, workspace, { name: "Amy Stone" });
  const ada = await makeUser(app.db, workspace, { name: "Ada Stone" });
  await app.db.pool.query("update users set invited_at = now() where id = $1", [ada.id]);
  await call(app, "PUT", `/recordings/${id}/users`, { user_id: ben.id }, { token: member.token });
  const { page, complaints } = await open(`${id}?tab=comments`, { size: phone });
  const field = page.getByRole("textbox", { name: "New comment" });
  await field.click();
  await page.keyboard.type("Ask @");
  const options = page.getByRole("option");
  await options.first().waitFor();
  assert.match((await options.first().textContent()) ?? "", /^(Ben Ito|User)/);
  await page.keyboard.type("sto");
  await until("both are found by their last names", async () => (await options.count()) === 2);
  await page.getByRole("option", { name: /Ada Stone.*hasn't joined yet/ }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.getByRole("option", { name: /Amy Stone/, selected: true }).waitFor();
  await assertAccessibleAtRest(page);
  await picture(page, "comments-mention-phone");
  await page.keyboard.press("Enter");
  assert.equal(await field.inputValue(), "Ask @Amy Stone ");
  await page.keyboard.type("and @b");
  await options.first().waitFor();
  await page.keyboard.press("Escape");
  await until("the list is closed", async () => (await options.count()) === 0);
  await page.keyboard.type("e");
  assert.equal(await options.count(), 0);
  for (let i = 0; i < 3; i++) await page.keyboard.press("Backspace");
  await page.keyboard.type("@it");
  await page.getByRole("option", { name: /Ben Ito/, selected: true }).waitFor();
  await page.keyboard.press("Tab");
  assert.equal(await field.inputValue(), "Ask @Amy Stone and @Ben Ito ");
  await page.keyboard.press("Control+Enter");
  await page.getByText("Amy Stone can't see this recording.").waitFor();
  await assertAccessibleAtRest(page);
  await picture(page, "comments-offer-phone");
  assert.deepEqual(
    [await listed(id), (await manage("GET", `/recordings/${id}`)).body.shared_users.length],
    [[], 1],
  );
  await page.getByRole("button", { name: "Share with Amy Stone" }).click();
  const thread = page.getByRole("listitem", { name: "At 0:00" });
  await thread.locator("span", { hasText: "@Amy Stone" }).waitFor();
  const [comment] = await listed(id);
  assert.deepEqual(comment.mentions.map((user: { id: string }) => user.id).sort(), [amy.id, ben.id].sort());
  assert.deepEqual(
    complaints.filter((text) => !text.includes("400")),
    [],
  );
});

test("comments: a link opens a resolved one at its moment; markup is text, and viewers only read", async () => {
  const id = await shared();
  const text = "<img src=x onerror=alert(1)> [bad](javascript:alert) `code` # no heading";
  const first = await post(id, { text: "Early", timestamp: 1000 });
  const second = await post(id, { text, timestamp: 9000 });
  await manage("POST", `/comments/${second}/resolve`, {}, ben);
  const viewer = await makeUser(app.db, workspace);
  await app.db.pool.query("update users set role = 'viewer' where id = $1", [viewer.id]);
  const { page, context, complaints } = await open(`${id}?comment=${second}`, {
    userId: viewer.id,
    size: phone,
  });
  const opened = page.locator("article[data-opened]");
  await opened.getByText("<img src=x onerror=alert(1)> bad `code` # no heading").waitFor();
  assert.equal(await opened.getByRole("link").count(), 0);
  await page.getByRole("region", { name: "Player" }).getByText("0:09").waitFor();
  assert.equal(await page.getByRole("button", { name: /^(Reply|Resolve|Reopen|Add reaction)$/ }).count(), 0);
  assert.equal(await page.getByRole("textbox", { name: "New comment" }).count(), 0);
  await assertAccessibleAtRest(page);
  await picture(page, "comments-viewer-phone");
  await page.goto(`${app.url}/recordings/${id}?comment=${crypto.randomUUID()}`);
  await page.getByText("This comment was deleted.").waitFor();
  await signInAs(app, context, admin.id);
  await resize(page, desktop);
  await page.goto(`${app.url}/recordings/${id}?comment=${first}`);
  await opened.getByRole("button", { name: /^Actions/ }).click();
  await page.getByRole("menuitem", { name: "Delete" }).waitFor();
  assert.equal(await page.getByRole("menuitem", { name: "Edit" }).count(), 0);
  assert.deepEqual(complaints, []);
});

test("comments: public links and the print view show none and request none", async () => {
  const id = await shared();
  await post(id, { text: "For us alone", timestamp: 6000 });
  const { url } = await linkTools(app, member.token).publish(id);
  const { page, context } = await visitShared(app, "/icon.svg");
  const read: string[] = [];
  page.on("request", (request) => read.push(request.url()));
  for (const [path, userId] of [
    [pathOf(url), undefined],
    [`/recordings/${id}/print`, member.id],
  ] as const) {
    if (userId !== undefined) await signInAs(app, context, userId);
    await page.goto(app.url + path);
    await page.getByText("It is signed. Café Blå gets a copy.").first().waitFor();
    await page.keyboard.press("n");
    assert.equal(await page.getByText(/For us alone|Comments/).count(), 0);
    assert.equal(await page.locator("[data-marker=comment]").count(), 0);
  }
  assert.deepEqual(
    read.filter((each) => each.includes("/comments")),
    [],
  );
});
