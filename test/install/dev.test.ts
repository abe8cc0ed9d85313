import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { launchChromium, noChromium } from "../support/chromium.ts";
import { createTestDatabase } from "../support/database.ts";
import { freePort } from "../support/port.ts";
import { until } from "../support/until.ts";

const dev = fileURLToPath(new URL("../../scripts/dev.ts", import.meta.url));

/** Two ports in a row: Vite listens on the first, the server on the second. */
async function freePair(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if ((await fetch(`http://127.0.0.1:${port + 1}`).catch(() => null)) === null) return port;
  }
}

test("npm run dev: one origin serves API and web app, with React refresh and no console error", {
  skip: noChromium,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-dev-"));
  const database = await createTestDatabase();
  const port = await freePair();
  const url = `http://localhost:${port}`;
  const child = spawn(process.execPath, [dev], {
    env: {
      ...process.env,
      PARLEY_PORT: String(port),
      PARLEY_DATA_DIR: folder,
      PARLEY_DATABASE_URL: database.url,
      INSPECT_PORT: "0",
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  const ended = once(child, "exit");
  const browser = await launchChromium();
  after(async () => {
    await browser.close();
    child.kill("SIGTERM");
    await ended;
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  });
  await until(`the development server is ready:\n${log}`, async () => {
    assert.equal(child.exitCode, null, log);
    return (await fetch(`${url}/readyz`).catch(() => null))?.status === 200;
  });
  const signIn = readFileSync(join(folder, "first-sign-in.txt"), "utf8");
  const field = (name: string): string => new RegExp(`${name} +(\\S+)`).exec(signIn)?.[1] ?? "";

  const page = await (await browser.newContext()).newPage();
  page.setDefaultTimeout(120_000);
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto(`${url}/sign-in`);
  await page.getByLabel("Email").fill(field("email"));
  await page.getByLabel("Password", { exact: true }).fill(field("password"));
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("heading", { level: 1 }).waitFor();
  assert.equal(new URL(page.url()).origin, url);
  assert.equal(await page.evaluate("typeof globalThis.$RefreshReg$"), "function");
  const { status } = await fetch(`${url}/library/page.tsx`);
  assert.equal(status, 200);
  assert.deepEqual(complaints, []);
});
