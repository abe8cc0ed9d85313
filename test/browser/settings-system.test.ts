import assert from "node:assert/strict";
import { after, test } from "node:test";
import { pino } from "pino";
import { startHeartbeat } from "../../server/system/processes.ts";
import { insertFailedJob } from "../../server/system/test/failed-job.ts";
import { insertRecording, makeWorkspace } from "../support/factories.ts";
import { assertAccessible, phone, startBrowserApp, visit } from "./support.ts";

// Nobody takes mail at this address.
const app = await startBrowserApp({
  worker: false,
  env: { PARLEY_SMTP_URL: "smtp://127.0.0.1:1", PARLEY_SMTP_FROM: "parley@parley.test" },
});
const operator = await makeWorkspace(app.db, "Tidewater");
const other = await makeWorkspace(app.db, "Quay");

test("system: health, tests, failed jobs retried and discarded, storage and processes, also on a phone in the dark", async () => {
  const { db } = app;
  const log = pino({ level: "silent" });
  const heartbeat = await startHeartbeat(db, { role: "worker", isAlone: false, log });
  after(() => heartbeat.stop());
  const first = await insertFailedJob(app);
  const recording = await insertRecording(db, { recorderId: other.member.id });
  await db.pool.query(
    "insert into stored_files (key, recording_id, workspace_id, bytes, sha256) values ($1, $2, $3, 12000000, sha256('x'))",
    [`recordings/${recording}/media.mp4`, recording, other.id],
  );
  const { page, complaints } = await visit(app, "/settings", { userId: operator.admin.id });
  await page.getByRole("navigation", { name: "Settings" }).getByText("System").click();
  const components = page.getByRole("list", { name: "Components" }).getByRole("listitem");
  await components.filter({ hasText: "Background work" }).getByText("Working").waitFor();
  await components.filter({ hasText: "Speech model" }).getByText("Not set up").waitFor();
  const mail = components.filter({ hasText: "Email" });
  await mail.getByText(/1 email could not be sent yet/).waitFor();

  await mail.getByRole("button", { name: "Test Email" }).click();
  await mail.getByText(/mail server at 127\.0\.0\.1:1 can't be reached.*Tested at/).waitFor();
  await mail.getByText(/Check host and port in PARLEY_SMTP_URL/).waitFor();
  const database = components.filter({ hasText: "Database" });
  await database.getByRole("button", { name: "Test Database" }).click();
  await database.getByText(/wrote a transaction.*Tested at/).waitFor();

  await page.getByRole("list", { name: "Storage by workspace" }).getByText("12 MB media").waitFor();
  await page.getByRole("list", { name: "Processes" }).getByText("Running").waitFor();
  await assertAccessible(page);

  const failed = page.getByRole("list", { name: "Failed jobs" }).getByRole("listitem");
  await failed.getByText("no route to host").waitFor();
  await failed.getByRole("button", { name: "Retry Send email" }).click();
  await page.getByText("Job retried.").waitFor();
  const { rows } = await db.pool.query(
    "select start_after <= now() as is_due from pgboss.job where name || '.' || singleton_key = $1",
    [first],
  );
  assert.deepEqual(rows, [{ is_due: true }]);

  const { page: small, complaints: others } = await visit(app, "/settings/system", {
    userId: operator.admin.id,
    size: phone,
    colorScheme: "dark",
  });
  await small.getByRole("list", { name: "Storage by workspace" }).waitFor();
  await assertAccessible(small);
  assert.ok(
    await small.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
  );

  await failed.getByRole("button", { name: "Discard Send email" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Discard job" }).click();
  await page.getByText("No failed jobs.").waitFor();
  assert.deepEqual([...complaints, ...others], []);
});

test("system: admins of other workspaces find no link to it, and are refused", async () => {
  const { page } = await visit(app, "/settings/system", { userId: other.admin.id });
  await page.getByText("Only admins of the operator's workspace can see this.").waitFor();
  assert.equal(await page.getByRole("navigation", { name: "Settings" }).getByText("System").count(), 0);
});
