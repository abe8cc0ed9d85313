import assert from "node:assert/strict";
import type { Page, Request } from "playwright-core";
import { until } from "../support/until.ts";
import { navigate } from "./support.ts";

/**
 * Goes from page to page as links do: loading the app for each would take longer than looking at it.
 * @returns a function that goes to a path and waits until everything that its page requests is there.
 */
export function createTour(page: Page): (path: string) => Promise<void> {
  const pending = new Set<Request>();
  page.on("request", (request) => {
    // The stream of notifications stays open.
    if (request.resourceType() !== "eventsource") pending.add(request);
  });
  page.on("requestfinished", (request) => pending.delete(request));
  page.on("requestfailed", (request) => pending.delete(request));
  const isLoaded = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() =>
    __TSR_ROUTER__.state.status === "idle" && __TSR_ROUTER__.options.context.queryClient.isFetching() === 0)`;
  return async (path) => {
    await navigate(page, path);
    await until(
      `${path} is loaded`,
      async () => (await page.evaluate<boolean>(isLoaded)) && pending.size === 0,
    );
    const { pathname } = new URL(page.url());
    assert.equal(pathname, new URL(path, page.url()).pathname);
  };
}
