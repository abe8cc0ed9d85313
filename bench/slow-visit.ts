import type { Browser, Page } from "playwright-core";

/** A visit of a page on a slow processor, in milliseconds since its navigation began. */
export interface SlowVisit {
  readonly firstLineMs: number;
  /** Total blocking time: of each task after the first paint, what is longer than 50 ms, until the page is interactive. */
  readonly blockingMs: number;
}

export interface PageToVisitSlowly {
  readonly url: string;
  /** Of a session. */
  readonly cookie: string;
  /** Matches the first line once it is in the document. */
  readonly firstLine: string;
  /** How many times slower the processor is than this machine's. */
  readonly slowdown: number;
  /** The page is interactive after the last long task before such a pause. */
  readonly quietMs: number;
}

/** Tasks up to this long are not felt. */
const unnoticedMs = 50;

/** Runs before the page's own scripts. Nothing else asks the page anything meanwhile, which would take its time. */
const observe = ({ firstLine, quietMs }: PageToVisitSlowly): string => `
  globalThis.slowVisit = new Promise((resolve) => {
    const tasks = [];
    let firstLineMs = null;
    new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries()) tasks.push({ startTime, duration });
    }).observe({ type: "longtask", buffered: true });
    const watcher = new MutationObserver(() => {
      if (document.querySelector(${JSON.stringify(firstLine)}) === null) return;
      watcher.disconnect();
      // A task after the next frame: the line is painted.
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => { firstLineMs = performance.now(); };
        port2.postMessage(null);
      });
    });
    watcher.observe(document, { childList: true, subtree: true });
    const timer = setInterval(() => {
      const last = tasks.at(-1);
      const busyUntil = Math.max(firstLineMs ?? Infinity, last === undefined ? 0 : last.startTime + last.duration);
      if (performance.now() - busyUntil < ${quietMs}) return;
      clearInterval(timer);
      const [{ startTime: paintMs }] = performance.getEntriesByName("first-contentful-paint");
      const blocking = tasks.map(({ startTime, duration }) =>
        Math.max(0, Math.min(duration, startTime + duration - paintMs) - ${unnoticedMs}));
      resolve({ firstLineMs, blockingMs: blocking.reduce((sum, ms) => sum + ms, 0) });
    }, 250);
  });
`;

/** Opens a page twice in a new profile: the second time, the browser has cached what it may. */
export async function visitSlowly(
  browser: Browser,
  page: PageToVisitSlowly,
): Promise<{ cold: SlowVisit; warm: SlowVisit }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, locale: "en-GB" });
  try {
    await context.addCookies([{ name: "parley_session", value: page.cookie, url: new URL(page.url).origin }]);
    await context.addInitScript(observe(page));
    const tab = await context.newPage();
    const devtools = await context.newCDPSession(tab);
    await devtools.send("Emulation.setCPUThrottlingRate", { rate: page.slowdown });
    const cold = await visitOnce(tab, page.url);
    // Otherwise the second visit would share its process with the page that is being left.
    await tab.goto("about:blank");
    return { cold, warm: await visitOnce(tab, page.url) };
  } finally {
    await context.close();
  }
}

async function visitOnce(tab: Page, url: string): Promise<SlowVisit> {
  await tab.goto(url, { waitUntil: "commit" });
  return tab.evaluate<SlowVisit>("slowVisit");
}
