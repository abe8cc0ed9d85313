import assert from "node:assert/strict";
import { test } from "node:test";
import { call } from "../support/app.ts";
import { makeRecording, makeWorkspace } from "../support/factories.ts";
import { assertAccessibleAtRest, people, talk } from "./recording-support.ts";
import { phone, startBrowserApp, visitShared } from "./support.ts";

const app = await startBrowserApp();
const { member } = await makeWorkspace(app.db);

test("action items: the user's own and open ones by meeting, ticked in place, with filters and a link to the moment", async () => {
  const { page, leave, complaints } = await visitShared(app, "/action-items", { userId: member.id });
  await page.getByText("No action items").waitFor();
  await leave();
  const { recordingId } = await makeRecording(app, member.token, {
    title: "Harbour",
    transcript: talk,
    participants: [...people, { name: member.name, email: member.email, speaker_key: "s3" }],
  });
  const { rows } = await app.db.pool.query(
    "select id from participants where recording_id = $1 and name = $2",
    [recordingId, member.name],
  );
  const items = ["Sign the contract", "Call the port"].map((text, index) => ({
    ...{ id: crypto.randomUUID(), status: "pending", timestamp: 7600, text, quote: "It is signed." },
    ...(index === 0 ? { assignee_id: rows[0].id, due_on: "2026-12-05" } : { assignee_id: null }),
  }));
  await app.db.pool.query("update recordings set ai_action_items = $2 where id = $1", [
    recordingId,
    JSON.stringify(items),
  ]);
  const second = await visitShared(app, "/action-items", { userId: member.id });
  const list = second.page;
  const box = list.getByRole("checkbox", { name: "Sign the contract" });
  await box.waitFor();
  await list.getByText("Due 5 Dec 2026").waitFor();
  assert.equal(await list.getByRole("checkbox", { name: "Call the port" }).count(), 0);
  await assertAccessibleAtRest(list);
  if (process.env.SCREENSHOTS) await list.screenshot({ path: `${process.env.SCREENSHOTS}/items.png` });
  const saved = list.waitForResponse((response) => response.request().method() === "PATCH");
  await box.click();
  assert.equal((await saved).status(), 200);
  const { body } = await call(app, "GET", "/_/api/v1/action-items?assignee=me&state=completed", undefined, {
    token: member.token,
    version: null,
  });
  assert.equal(body.action_items.length, 1);
  await list.goto(`${app.url}/action-items?assignee=everyone&state=all`);
  await list.getByRole("checkbox", { name: "Call the port" }).waitFor();
  await list
    .getByRole("link", { name: /open this moment/ })
    .first()
    .click();
  await list.waitForURL(/recordings\/.*t=7\.6/);
  const small = await visitShared(app, "/action-items?assignee=everyone", { userId: member.id, size: phone });
  await small.page.getByRole("checkbox", { name: "Call the port" }).waitFor();
  if (process.env.SCREENSHOTS)
    await small.page.screenshot({ path: `${process.env.SCREENSHOTS}/items-phone.png` });
  assert.deepEqual([...complaints, ...second.complaints, ...small.complaints], []);
});
