import type { Browser } from "playwright-core";

/** What a first visit of a page took, nothing of it being in a cache. */
export interface PageVisit {
  /** Largest contentful paint, from the start of the navigation. */
  readonly largestPaintMs: number;
  /** How much of the page moved by itself (CLS), without unit. */
  readonly layoutShift: number;
  /** As sent: compressed, with headers. */
  readonly scriptBytes: number;
  readonly styleBytes: number;
  readonly allBytes: number;
  readonly requests: number;
  /** Where anything was loaded from. */
  readonly origins: ReadonlySet<string>;
}

/** A line slower than the machine's own. */
interface Line {
  readonly bitsPerSec: number;
  readonly latencyMs: number;
}

export interface PageToVisit {
  readonly url: string;
  /** Of a session; signed out without. */
  readonly cookie: string | null;
  /** What is there once the page is whole. */
  readonly whole: string;
  readonly line?: Line;
}

/** Collects paints and shifts from the very start, also those before anybody asks. */
const observe = `
  globalThis.paints = []; globalThis.shifts = [];
  new PerformanceObserver((list) => paints.push(...list.getEntries().map((entry) => entry.startTime)))
    .observe({ type: "largest-contentful-paint", buffered: true });
  new PerformanceObserver((list) => shifts.push(...list.getEntries().map((entry) => entry.value)))
    .observe({ type: "layout-shift", buffered: true });
`;

/** Opens a page in a profile of its own, so that nothing is cached, and waits until nothing more is loaded. */
export async function visitPage(
  browser: Browser,
  { url, cookie, whole, line }: PageToVisit,
): Promise<PageVisit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-GB" });
  try {
    if (cookie !== null)
      await context.addCookies([{ name: "parley_session", value: cookie, url: new URL(url).origin }]);
    await context.addInitScript(observe);
    const page = await context.newPage();
    const devtools = await context.newCDPSession(page);
    await devtools.send("Network.enable");
    if (line !== undefined)
      await devtools.send("Network.emulateNetworkConditions", {
        offline: false,
        latency: line.latencyMs,
        downloadThroughput: line.bitsPerSec / 8,
        uploadThroughput: line.bitsPerSec / 8,
      });
    const types = new Map<string, string>();
    const bytes = new Map<string, number>();
    const origins = new Set<string>();
    let requests = 0;
    devtools.on("Network.requestWillBeSent", ({ requestId, request, type }) => {
      const { protocol, origin } = new URL(request.url);
      if (!protocol.startsWith("http")) return;
      requests += 1;
      origins.add(origin);
      types.set(requestId, type ?? "Other");
    });
    devtools.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
      const type = types.get(requestId) ?? "Other";
      bytes.set(type, (bytes.get(type) ?? 0) + encodedDataLength);
    });
    await page.goto(url, { waitUntil: "commit" });
    await page.locator(whole).first().waitFor({ timeout: 60_000 });
    await page.waitForLoadState("networkidle");
    const [paints, shifts] = await page.evaluate<[number[], number[]]>("[paints, shifts]");
    return {
      largestPaintMs: paints.at(-1) ?? Number.NaN,
      layoutShift: shifts.reduce((sum, value) => sum + value, 0),
      scriptBytes: bytes.get("Script") ?? 0,
      styleBytes: bytes.get("Stylesheet") ?? 0,
      allBytes: [...bytes.values()].reduce((sum, value) => sum + value, 0),
      requests,
      origins,
    };
  } finally {
    await context.close();
  }
}
