import type { Browser, BrowserContext, CDPSession, Page } from "playwright-core";

/** A page that one visit after another uses, with its browser context. */
interface SharedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** The browser's language, which a context can't change. */
  readonly locale: string;
  readonly devtools: CDPSession;
  /** From which its pages have loaded something. */
  readonly origins: Set<string>;
  close(): Promise<void>;
}

/**
 * The pages that visits use one after another, also those of several test files whose servers have the same URL. A page of
 * a new context starts a process and loads the web app without a cache, which takes twice as long as loading it again.
 */
export interface SharedPages {
  /** A page without any state, for an origin that has none. */
  take(browser: Browser, locale: string, origin: string): Promise<SharedPage>;
  /**
   * Removes what a visit of the web app at this origin has left, and keeps the page for the next visit. After the page was
   * closed, does nothing: a test that starts a server of its own has closed its pages by then.
   */
  giveBack(shared: SharedPage, origin: string): Promise<void>;
  /** Closes the pages that are in use, and all but the last few of the others. */
  closeUsed(): Promise<void>;
  /** Closes all pages, also those in use. */
  close(): Promise<void>;
}

/** How many pages the next test file may find. */
const maxKept = 4;

/** Of new pages. Fading elements are briefly half visible or present twice. */
const initial = { viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" } as const;

/** Whose listeners a visit may add. Playwright's own listen to others. */
const pageEvents = [
  "console",
  "dialog",
  "domcontentloaded",
  "download",
  "filechooser",
  "frameattached",
  "framedetached",
  "framenavigated",
  "load",
  "pageerror",
  "popup",
  "request",
  "requestfailed",
  "requestfinished",
  "response",
  "websocket",
  "worker",
] as const;

/** What would outlast a visit or end the page. */
const refused = {
  clock: ["install", "pauseAt", "setFixedTime", "setSystemTime"],
  page: [
    "addInitScript",
    "addLocatorHandler",
    "close",
    "exposeBinding",
    "exposeFunction",
    "routeFromHAR",
    "routeWebSocket",
    "setDefaultNavigationTimeout",
    "setDefaultTimeout",
    "setExtraHTTPHeaders",
  ],
  context: [
    "addInitScript",
    "close",
    "exposeBinding",
    "exposeFunction",
    "newCDPSession",
    "on",
    "once",
    "routeFromHAR",
    "routeWebSocket",
    "setDefaultNavigationTimeout",
    "setDefaultTimeout",
    "setExtraHTTPHeaders",
    "setGeolocation",
  ],
} as const;

export function createSharedPages(): SharedPages {
  let all: SharedPage[] = [];
  let free: SharedPage[] = [];
  const closeAll = async (pages: readonly SharedPage[]): Promise<void> => {
    all = all.filter((one) => !pages.includes(one));
    for (const shared of pages) await shared.close();
  };
  return {
    take: async (browser, locale, origin) => {
      // The one used last, which has most of the web app in its cache.
      const known = free.findLast(
        (one) => one.context.browser() === browser && one.locale === locale && hasOnlyLoadedFrom(one, origin),
      );
      free = free.filter((one) => one !== known);
      if (known !== undefined) return known;
      const created = await createSharedPage(browser, locale);
      all.push(created);
      return created;
    },
    giveBack: async (shared, origin) => {
      if (!all.includes(shared)) return;
      let isClean = false;
      try {
        // What other origins have stored isn't known.
        if (!hasOnlyLoadedFrom(shared, origin)) return;
        await reset(shared, origin);
        isClean = true;
      } finally {
        if (isClean) free.push(shared);
        else await closeAll([shared]);
      }
    },
    closeUsed: () => {
      free = free.slice(-maxKept);
      return closeAll(all.filter((one) => !free.includes(one)));
    },
    close: () => closeAll(all),
  };
}

function hasOnlyLoadedFrom({ origins }: SharedPage, origin: string): boolean {
  return [...origins].every((one) => one === origin);
}

async function createSharedPage(browser: Browser, locale: string): Promise<SharedPage> {
  // As visits begin; pages that they open themselves stay so.
  const context = await browser.newContext({ ...initial, locale, timezoneId: "UTC" });
  // For slow, busy machines.
  context.setDefaultTimeout(60_000);
  // Not Playwright's option, which reports each registration.
  await context.addInitScript("delete Navigator.prototype.serviceWorker");
  const origins = new Set<string>();
  context.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol.startsWith("http")) origins.add(origin);
  });
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  const close = context.close.bind(context);
  refuse(page.clock, refused.clock);
  refuse(page, refused.page);
  refuse(context, refused.context);
  return { page, context, locale, devtools, origins, close };
}

function refuse(target: object, names: readonly string[]): void {
  for (const name of names)
    Object.defineProperty(target, name, {
      get: () => {
        throw new Error(`${name} would outlast the visit of a shared page; use visit() of support.ts`);
      },
    });
}

/**
 * Leaves the page empty, at the same origin: at another one, such as about:blank, the browser would replace its process.
 * Only the HTTP cache stays.
 */
async function reset({ page, context, devtools }: SharedPage, origin: string): Promise<void> {
  for (const event of pageEvents) page.removeAllListeners(event);
  for (const routes of [page, context]) await routes.unrouteAll({ behavior: "ignoreErrors" });
  await context.setOffline(false);
  await context.clearPermissions();
  for (const other of context.pages()) if (other !== page) await other.close();
  await page.goto(`${origin}/icon.svg`);
  // The page's scripts have ended, so nothing is stored any more.
  await page.evaluate("localStorage.clear(); sessionStorage.clear(); name = ''");
  await devtools.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" });
  await context.clearCookies();
  for (const key of ["Shift", "Control", "Alt", "Meta"]) await page.keyboard.up(key);
  await page.mouse.up();
  await page.mouse.move(-1, -1);
  await devtools.send("Page.resetNavigationHistory");
}
