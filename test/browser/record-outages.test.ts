// Runs alone: in its full form it takes minutes.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "playwright-core";
import { buildWebApp } from "../../server/operations/web/build.ts";
import { openDatabase } from "../../server/platform/db/database.ts";
import { openLocalStore } from "../../server/platform/storage/local/local.ts";
import { makeWorkspace } from "../support/factories.ts";
import { isFullRun } from "../support/full.ts";
import { startNginx } from "../support/nginx.ts";
import { cheapHash } from "../support/passwords.ts";
import { freePort } from "../support/port.ts";
import { skipWithout } from "../support/programs.ts";
import { prepareServer } from "../support/server-process.ts";
import { until } from "../support/until.ts";
import {
  assertComplete,
  listenTo,
  openRecorderBrowser,
  recordedMs,
  saveMedia,
  startRecording,
  storedNames,
} from "./record-support.ts";

/** How long each outage lasts after it has been noticed: recording takes much processor time. */
const outageMs = isFullRun ? 60_000 : 2000;
/** Long enough for more than the proxy accepts at once. */
const firstOutageMs = Math.max(outageMs, 4000);
const password = "correct horse battery";

test("a recording behind nginx is complete after a lost connection, refused sizes, a killed server and an ended session", {
  skip: skipWithout("nginx"),
}, async () => {
  // The smallest limit that chunks adapt to, as a whole number of kibibytes above it.
  const app = await startBehindNginx("264k");
  const { member } = await makeWorkspace(app.db);
  await app.db.kysely
    .updateTable("users")
    .set({ password_hash: await cheapHash(password) })
    .where("id", "=", member.id)
    .execute();
  const { open } = await openRecorderBrowser(app, member.id);
  const { context, page } = await open();
  const statuses: number[] = [];
  page.on("response", (response) => {
    if (response.request().method() === "PATCH") statuses.push(response.status());
  });
  const panel = await startRecording(page, "Stormy call");
  const isUploading = () => panel.getByText("Uploading while you record").waitFor();
  const isKept = () => panel.getByText("No connection").waitFor();

  await context.setOffline(true);
  await isKept();
  await delay(firstOutageMs);
  await context.setOffline(false);
  // What was kept is more than the proxy lets through at once.
  await until("the proxy refuses a chunk", () => statuses.includes(413));
  await until("a smaller one arrives", () => statuses.at(-1) === 204);
  await isUploading();

  await app.server.kill();
  await isKept();
  await delay(outageMs);
  await app.server.start();
  await isUploading();

  await app.db.kysely.deleteFrom("sessions").execute();
  await page.getByRole("link", { name: "Highlights" }).click();
  const before = await recordedMs(page);
  await signInAgain(page, () => delay(outageMs));
  assert.ok((await recordedMs(page)) >= before + outageMs - 1000, "recording continues meanwhile");

  const recorded = await recordedMs(page);
  await panel.getByRole("button", { name: "Stop" }).click();
  await page.waitForURL("**/recordings/**", { timeout: 120_000 });
  const { id, duration_ms } = await app.db.kysely
    .selectFrom("recordings")
    .select(["id", "duration_ms"])
    .where("title", "=", "Stormy call")
    .executeTakeFirstOrThrow();
  assert.ok(duration_ms >= recorded - 250, `${duration_ms} ms of ${recorded} ms`);
  assertComplete(listenTo(await saveMedia(app.store, id)), duration_ms);
  await until("nothing is left in the browser", async () => (await storedNames(page)).length === 0);
});

/** A server in a process of its own, reached through nginx. */
async function startBehindNginx(maxBody: string) {
  await buildWebApp(() => undefined);
  const [port, serverPort] = [await freePort(), await freePort()];
  const url = `http://localhost:${port}`;
  const server = await prepareServer({
    env: {
      PARLEY_PORT: String(serverPort),
      PARLEY_BASE_URL: url,
      PARLEY_TRUSTED_PROXIES: "127.0.0.1",
    },
  });
  const db = openDatabase(
    { connectionString: server.env.PARLEY_DATABASE_URL ?? "" },
    {
      onError: (error) => {
        throw error;
      },
    },
  );
  after(async () => {
    await db.close();
    await server.dispose();
  });
  await server.start();
  await startNginx(port, server.url, maxBody);
  return { url, db, server, store: await openLocalStore(server.env.PARLEY_DATA_DIR ?? "") };
}

/** Signs in where the page asks for it. @param first what to do before. */
async function signInAgain(page: Page, first: () => Promise<unknown>): Promise<void> {
  const dialog = page.getByRole("dialog", { name: "You've been signed out. Sign in again." });
  await dialog.waitFor();
  await first();
  await dialog.getByLabel(/^Password/).fill(password);
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
}
