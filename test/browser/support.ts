import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after } from "node:test";
import type { AxeResults } from "axe-core";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { createSession } from "../../server/accounts/sessions.ts";
import { buildWebApp } from "../../server/web/build.ts";
import { startTestApp, type TestApp, type TestAppOptions } from "../support/app.ts";
import { launchChromium } from "../support/chromium.ts";
import { freePort } from "../support/port.ts";

const require = createRequire(import.meta.url);

/** A server with the web app and a browser beside it, for the calling test file. */
export interface BrowserApp extends TestApp {
  readonly browser: Browser;
}

/** Starts the server with the web app as built from these files, and a real Chromium. */
export async function startBrowserApp(options: TestAppOptions = {}): Promise<BrowserApp> {
  const webFolder = await buildWebApp(() => undefined);
  const app = await startTestApp({ ...options, webFolder, port: await freePort() });
  const browser = await launchChromium();
  after(() => browser.close());
  return { ...app, browser };
}

export const desktop = { width: 1280, height: 800 } as const;
export const phone = { width: 390, height: 844 } as const;

export interface VisitOptions {
  /** Who is signed in; nobody without. */
  readonly userId?: string;
  readonly size?: { readonly width: number; readonly height: number };
  readonly colorScheme?: "light" | "dark";
}

/** A page of a browser of its own. A console error, a failed script or a request to another host fails the test. */
export async function visit(
  app: BrowserApp,
  path: string,
  { userId, size = desktop, colorScheme = "light" }: VisitOptions = {},
): Promise<{ page: Page; context: BrowserContext; complaints: string[] }> {
  const context = await app.browser.newContext({
    viewport: size,
    colorScheme,
    locale: "en-GB",
    timezoneId: "UTC",
    // What fades in or out is half seen, and twice there, for a moment.
    reducedMotion: "reduce",
    hasTouch: size.width < 600,
  });
  after(() => context.close());
  // For a machine that is slow and busy.
  context.setDefaultTimeout(60_000);
  if (userId !== undefined) {
    const { cookie } = await app.db.kysely
      .transaction()
      .execute((tx) => createSession(tx, { userId, method: "password", ip: "127.0.0.1", userAgent: "test" }));
    await context.addCookies([{ name: "parley_session", value: cookie, url: app.url, httpOnly: true }]);
  }
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol.startsWith("http") && origin !== app.url) complaints.push(`loads from ${origin}`);
  });
  await page.goto(app.url + path);
  return { page, context, complaints };
}

/** Fails for anything that axe finds by WCAG 2.2 A and AA. */
export async function assertAccessible(page: Page): Promise<void> {
  // Something that turns for ever is never at rest, and need not be.
  await page.evaluate(
    `Promise.allSettled(document.getAnimations()
      .filter(({ effect }) => effect.getTiming().iterations !== Infinity)
      .map(({ finished }) => finished))`,
  );
  await page.evaluate(await readAxe());
  const results = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(o: object): Promise<AxeResults> } }).axe.run({
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    }),
  );
  const found = results.violations.map(
    ({ id, help, nodes }) => `${id}: ${help}\n    ${nodes.map((node) => node.html).join("\n    ")}`,
  );
  assert.deepEqual(found, [], `axe on ${page.url()}`);
}

async function readAxe(): Promise<string> {
  const { readFile } = await import("node:fs/promises");
  return readFile(require.resolve("axe-core/axe.min.js"), "utf8");
}
