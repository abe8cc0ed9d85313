import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, afterEach, type TestContext } from "node:test";
import { setTimeout } from "node:timers/promises";
import type { AxeResults } from "axe-core";
import type { Browser, BrowserContext, CDPSession, Page, Request } from "playwright-core";
import { buildWebApp } from "../../server/operations/web/build.ts";
import { createSession } from "../../server/people/accounts/sign-in/sessions.ts";
import { startTestApp, type TestApp, type TestAppOptions } from "../support/app.ts";
import { launchChromium } from "../support/chromium.ts";
import { freePort, isFree } from "../support/port.ts";
import { startShared } from "../support/shared.ts";
import { createSharedPages, type SharedPages } from "./shared-page.ts";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** A server with the web app and a browser, for the calling test file. Later files of its group use its pages again. */
export interface BrowserApp extends TestApp {
  readonly browser: Browser;
  readonly pages: SharedPages;
}

/** The folder of the current web app: building it opens each of its thousand files for reading. */
let built: Promise<string> | undefined;

/** Starts the server with the current web app. */
export async function startWebApp(options: TestAppOptions = {}): Promise<TestApp> {
  built ??= buildWebApp(() => undefined);
  const webFolder = await built;
  return startTestApp({ ...options, webFolder, port: options.port ?? (await freePort()) });
}

/** Of the servers of earlier test files in this process, whose pages have the web app in their cache under these URLs. */
const earlierPorts: number[] = [];

/** The port of an earlier server if it is free, or another one. */
async function takePort(): Promise<number> {
  const earlier = earlierPorts.pop();
  return earlier !== undefined && (await isFree(earlier)) ? earlier : freePort();
}

/** Starts the server with the current web app, and a real Chromium. */
export async function startBrowserApp(options: TestAppOptions = {}): Promise<BrowserApp> {
  const pages = await startShared(
    "pages",
    async () => createSharedPages(),
    (each) => each.close(),
  );
  // Before the server, which waits for its connections.
  after(() => pages.closeUsed());
  const port = options.port ?? (await takePort());
  const app = await startWebApp({ ...options, port });
  after(() => void earlierPorts.push(port));
  const browser = await startShared("chromium", launchChromium, (each) => each.close());
  afterEach(async (context) => {
    if (!context.passed) await describePages(context, browser);
  });
  return { ...app, browser, pages };
}

/** Says what the open pages show and what became of their requests, since a failed step often says only that something is missing. */
async function describePages(context: Pick<TestContext, "diagnostic">, browser: Browser): Promise<void> {
  for (const page of browser.contexts().flatMap((one) => one.pages())) {
    // Nobody uses it at the moment.
    if (page.url().endsWith("/icon.svg")) continue;
    const text = await evaluateSoon(page, "document.body.innerText");
    const state = await evaluateSoon(page, stateOfPage);
    const requests: string[] = [];
    for (const request of requestsOf.get(page) ?? []) {
      const outcome = await outcomeOf(request);
      if (outcome !== "200" || !request.url().includes("/assets/"))
        requests.push(`${request.method()} ${request.url()}: ${outcome}`);
    }
    context.diagnostic(
      `page ${page.url()} shows:\n${text.slice(0, 2000)}\n${[state.slice(0, 10_000), ...requests, ...(complaintsAt.get(page) ?? [])].join("\n")}`,
    );
  }
}

/** An expression for how far a page has loaded, and its HTML where it shows nothing. */
const stateOfPage = `JSON.stringify({
  document: document.readyState,
  visibility: document.visibilityState,
  router: globalThis.__TSR_ROUTER__?.state.status,
  routes: globalThis.__TSR_ROUTER__?.state.matches.map(({ routeId, status, isFetching }) => [routeId, status, isFetching]),
  html: document.body.innerText.trim() === "" ? document.body.innerHTML : undefined,
})`;

/** What an expression gives in a page, unless the page doesn't respond. */
function evaluateSoon(page: Page, expression: string): Promise<string> {
  return Promise.race([
    page.evaluate<string>(expression).catch((error: Error) => error.message),
    setTimeout(5_000, "(doesn't respond)", { ref: false }),
  ]);
}

/** The status of a request's response, why there is none, or that it is still to come. */
async function outcomeOf(request: Request): Promise<string> {
  const end = request.response().then(async (response) => {
    await response?.finished();
    return String(response?.status() ?? request.failure()?.errorText);
  });
  return Promise.race([end.catch((error: Error) => error.message), setTimeout(100, "pending")]);
}

/** The requests of a visited page since it was loaded. Listening to their ends would take time at each of them. */
const requestsOf = new WeakMap<Page, Set<Request>>();
/** What the latest visit of a page complained about. */
const complaintsAt = new WeakMap<Page, readonly string[]>();

export const desktop = { width: 1280, height: 800 } as const;
export const phone = { width: 390, height: 844 } as const;

export interface VisitOptions {
  /** The signed-in user; signed out without. */
  readonly userId?: string;
  readonly size?: { readonly width: number; readonly height: number };
  readonly colorScheme?: "light" | "dark";
  /** The browser's language. */
  readonly locale?: string;
  /** Whether the app may register its service worker, whose requests tests can't intercept. Default: false. */
  readonly hasServiceWorker?: boolean;
}

/** Signs a user in. Open pages are left first, so that none sends a request of the previous user with the new session. */
export async function signInAs(
  app: Pick<TestApp, "db" | "url">,
  context: BrowserContext,
  userId: string,
): Promise<void> {
  const { cookie } = await app.db.kysely
    .transaction()
    .execute((tx) => createSession(tx, { userId, method: "password", ip: "127.0.0.1", userAgent: "test" }));
  for (const page of context.pages())
    if (page.url().startsWith(`${app.url}/`) && !page.url().endsWith("/icon.svg"))
      await page.goto(`${app.url}/icon.svg`);
  await context.addCookies([{ name: "parley_session", value: cookie, url: app.url, httpOnly: true }]);
}

/** A visited page. `complaints` collects console errors, failed scripts and requests to other hosts. */
interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly complaints: string[];
}

/** Opens a page in a new browser context. */
export async function visit(
  app: Omit<BrowserApp, "pages">,
  path: string,
  {
    userId,
    size = desktop,
    colorScheme = "light",
    locale = "en-GB",
    hasServiceWorker = false,
  }: VisitOptions = {},
): Promise<Visit> {
  const context = await app.browser.newContext({
    viewport: size,
    colorScheme,
    locale,
    timezoneId: "UTC",
    // Fading elements are briefly half visible or present twice.
    reducedMotion: "reduce",
    hasTouch: hasTouch(size),
  });
  after(() => context.close());
  // For slow, busy machines.
  context.setDefaultTimeout(60_000);
  if (userId !== undefined) await signInAs(app, context, userId);
  // Not Playwright's option, which reports each registration.
  if (!hasServiceWorker) await context.addInitScript("delete Navigator.prototype.serviceWorker");
  const page = await context.newPage();
  devtoolsOf.set(page, () => context.newCDPSession(page));
  const complaints = complaintsOf(app, page);
  await page.goto(app.url + path);
  return { page, context, complaints };
}

/** A visit of a page that the visits of a file use one after another. */
export interface SharedVisit extends Visit {
  /** Makes the page free for the next visit. */
  leave(): Promise<void>;
}

/**
 * Opens a page that earlier visits of the file have used, or a new one: half the processor time of `visit()`. Nothing
 * that a visit leaves in the page or its context reaches the next. What can't be removed throws: init scripts, clocks,
 * listeners of contexts, taps. The page is free again after the calling test, or when `leave()` is called.
 */
export async function visitShared(
  app: BrowserApp,
  path: string,
  options: Omit<VisitOptions, "hasServiceWorker"> = {},
): Promise<SharedVisit> {
  const visited = await startSharedVisit(app, path, options);
  after(visited.leave);
  return visited;
}

/** Does the same for several tests: the page stays in use until `leave()` is called. */
export async function startSharedVisit(
  app: BrowserApp,
  path: string,
  {
    userId,
    size = desktop,
    colorScheme = "light",
    locale = "en-GB",
  }: Omit<VisitOptions, "hasServiceWorker"> = {},
): Promise<SharedVisit> {
  const shared = await app.pages.take(app.browser, locale, app.url);
  const { page, context, devtools } = shared;
  devtoolsOf.set(page, async () => devtools);
  const complaints = complaintsOf(app, page);
  let left: Promise<void> | undefined;
  const leave = (): Promise<void> => {
    left ??= app.pages.giveBack(shared, app.url);
    return left;
  };
  await resize(page, size);
  await page.emulateMedia({
    colorScheme,
    // Fading elements are briefly half visible or present twice.
    reducedMotion: "reduce",
    media: null,
    forcedColors: null,
    contrast: null,
  });
  if (userId !== undefined) await signInAs(app, context, userId);
  await page.goto(app.url + path);
  return { page, context, complaints, leave };
}

/** Makes a visited page as large as on another device, with touch on phones: a quarter of the time of another visit. */
export async function resize(page: Page, size: NonNullable<VisitOptions["size"]>): Promise<void> {
  await page.setViewportSize(size);
  // Playwright itself asks contexts, and refuses to tap here.
  const devtools = await devtoolsOf.get(page)?.();
  await devtools?.send("Emulation.setTouchEmulationEnabled", { enabled: hasTouch(size) });
}

const hasTouch = ({ width }: { readonly width: number }): boolean => width < 600;

function complaintsOf(app: Pick<BrowserApp, "url">, page: Page): string[] {
  const complaints: string[] = [];
  const requests = new Set<Request>();
  requestsOf.set(page, requests);
  complaintsAt.set(page, complaints);
  page.on("console", (message) => {
    if (message.type() !== "error" && message.type() !== "warning") return;
    complaints.push(`${message.text()} ${message.location().url}`.trimEnd());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => {
    if (request.isNavigationRequest()) requests.clear();
    requests.add(request);
    const { protocol, origin } = new URL(request.url());
    if (protocol.startsWith("http") && origin !== app.url) complaints.push(`loads from ${origin}`);
  });
  return complaints;
}

/** A page in which JavaScript can be evaluated: Playwright's, or one driven over WebDriver. */
export interface Evaluator {
  evaluate<T>(expression: string): Promise<T>;
}

/** Goes to a page of the app as its links do, by the router, which makes itself known to developer tools. */
export async function navigate(page: Evaluator, path: string): Promise<void> {
  await page.evaluate(`__TSR_ROUTER__.navigate({ href: ${JSON.stringify(path)} }).then(() => undefined)`);
}

/** How to reach the browser's debugger, for the pages of visits. */
const devtoolsOf = new WeakMap<Evaluator, () => Promise<CDPSession>>();

/** What axe checks. Describing every element that passes takes longer than finding those that don't. */
const axeOptions = {
  runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
  resultTypes: ["violations"],
  // Not the style sheets, which none of these rules reads: only the experimental one for the orientation of screens.
  preload: { assets: ["media"] },
};

/** Waits for the animations of a page. Infinite ones, such as spinners, never finish. */
export async function animationsEnd(page: Evaluator): Promise<void> {
  await page.evaluate(
    `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() =>
      Promise.allSettled(document.getAnimations()
        .filter(({ effect }) => effect.getTiming().iterations !== Infinity)
        .map(({ finished }) => finished))).then(() => undefined)`,
  );
}

/** Fails for any violation of WCAG 2.2 A and AA that axe finds. */
export async function assertAccessible(page: Evaluator): Promise<void> {
  await animationsEnd(page);
  if (await page.evaluate<boolean>("!('axe' in globalThis)")) {
    const expression = `(() => { ${axeSource}; })()`;
    const devtools = await devtoolsOf.get(page)?.();
    // Through the debugger, the browser compiles it once for all pages of its process.
    await (devtools === undefined
      ? page.evaluate(expression)
      : devtools.send("Runtime.evaluate", { expression }));
  }
  const violations = await page.evaluate<AxeResults["violations"]>(
    `axe.run(${JSON.stringify(axeOptions)}).then(({ violations }) => violations)`,
  );
  const found = violations.map(
    ({ id, help, nodes }) => `${id}: ${help}\n    ${nodes.map((node) => node.html).join("\n    ")}`,
  );
  assert.deepEqual(found, [], `axe on ${await page.evaluate<string>("location.href")}`);
}
