import assert from "node:assert/strict";
import { after, test } from "node:test";
import { pino } from "pino";
import { startHeartbeat } from "../../server/operations/system/processes.ts";
import { insertFailedJob } from "../../server/operations/system/test/failed-job.ts";
import { insertRecording, makeWorkspace } from "../support/factories.ts";
import { assertAccessible, phone, startBrowserApp, visitShared } from "./support.ts";

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
  const { page, complaints } = await visitShared(app, "/settings", { userId: operator.admin.id });
  await page.getByRole("navigation", { name: "Settings" }).getByText("System").click();
  const components = page.getByRole("list", { name: "Components" }).getByRole("listitem");
  await components.filter({ hasText: "Background work" }).getByText("Working").waitFor();
  await components.filter({ hasText: "Speech model" }).getByText("Not set up").waitFor();
  const mail = components.filter({ hasText: "Email" });
  await mail.getByText(/1 email could not be sent yet/).waitFor();

  await mail.getByRole("button", { name: "Test Email" }).click();
  await mail.getByText(/mail server at 127\.0\.0\.1:1 can't be reached.*Tested at/).waitFor();
  await mail.getByText(/Check host and port in SMTP URL/).waitFor();
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
    "select due_at <= now() as is_due from jobs where name || '.' || key = $1",
    [first],
  );
  assert.deepEqual(rows, [{ is_due: true }]);

  await page.setViewportSize(phone);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.getByRole("list", { name: "Storage by workspace" }).waitFor();
  await assertAccessible(page);
  assert.ok(
    await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
  );

  await failed.getByRole("button", { name: "Discard Send email" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Discard job" }).click();
  await page.getByText("No failed jobs.").waitFor();
  assert.deepEqual(complaints, []);
});

test("system: watched folders with their files; failed ones are retried, one or all of a folder", async () => {
  const { pool } = app.db;
  const folder = "/mnt/recordings";
  await pool.query("insert into watched_folders (folder, problem) values ($1, 'team Sales is not a team')", [
    folder,
  ]);
  await pool.query(
    `insert into watched_files (workspace_id, path_hash, folder, path, mark, state, error)
     select $1, sha256(path::bytea), $2, path, '', state, error
     from (values ('a', 'waiting', null), ('b', 'ready', 'the storage is full'), ('c', 'pending', null),
       ('d', 'done', null), ('e', 'done', null), ('Empty.mp4', 'failed', 'Empty.mp4 is empty.'),
       ('f', 'failed', 'damaged'), ('g', 'failed', 'damaged')) f (path, state, error)`,
    [other.id, folder],
  );
  const worker = await startHeartbeat(app.db, {
    ...{ role: "worker", isAlone: false, log: pino({ level: "silent" }) },
    watchedFolders: () => [folder],
  });
  after(() => worker.stop());
  const { page, complaints } = await visitShared(app, "/settings/system", { userId: operator.admin.id });
  const folders = page.getByRole("list", { name: "Watched folders" }).getByRole("listitem");
  await folders.getByText("2 waiting").waitFor();
  for (const text of [
    "1 processing",
    "2 done",
    "3 failed",
    "team Sales is not a team",
    "the storage is full",
  ])
    await folders.getByText(text).waitFor();
  await folders.getByText(/last check/).waitFor();
  const failed = page.getByRole("list", { name: "Failed files" }).getByRole("listitem");
  await failed.filter({ hasText: "Quay" }).getByText("Empty.mp4 is empty.").waitFor();
  await assertAccessible(page);
  await failed.getByRole("button", { name: "Retry Empty.mp4" }).click();
  await page.getByText("1 file will be imported again.").waitFor();
  await failed.getByText("Empty.mp4 is empty.").waitFor({ state: "detached" });
  await folders.getByRole("button", { name: `Retry all failed files in ${folder}` }).click();
  await page.getByText("2 files will be imported again.").waitFor();
  await folders.getByText("0 failed").waitFor();
  const { rows } = await pool.query(
    "select workspace_id, details from audit_log where action = 'watched_files_retried' order by details ->> 'files', workspace_id = $1",
    [other.id],
  );
  assert.deepEqual(
    rows.map(({ workspace_id, details }) => [workspace_id, details]),
    // The other workspace doesn't learn the operator's folders.
    [
      [operator.id, { folder, files: 1 }],
      [other.id, { files: 1 }],
      [operator.id, { folder, files: 2 }],
      [other.id, { files: 2 }],
    ],
  );
  // The last worker with this folder stops after the page was loaded.
  await pool.query("update watched_files set state = 'failed', error = 'damaged' where path = 'f'");
  await page.reload();
  const again = failed.getByRole("button", { name: "Retry f" });
  await again.waitFor();
  await worker.stop();
  await again.click();
  await page.getByText(/No running server process watches \/mnt\/recordings\. /).waitFor();
  await page.reload();
  await folders.getByText("Not watched").waitFor();
  await folders.getByText(/Add it to Watched folders in Server settings/).waitFor();
  await failed.getByText("damaged").waitFor();
  assert.equal(await page.getByRole("button", { name: /^Retry/ }).count(), 0);
  await assertAccessible(page);
  assert.deepEqual(
    complaints.filter((text) => !/409/.test(text)),
    [],
  );
});

test("system: admins of other workspaces find no link to it, and are refused", async () => {
  const { page } = await visitShared(app, "/settings/system", { userId: other.admin.id });
  await page.getByText("Only admins of the operator's workspace can see this.").waitFor();
  assert.equal(await page.getByRole("navigation", { name: "Settings" }).getByText("System").count(), 0);
});
