import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { call } from "../support/app.ts";
import { until } from "../support/until.ts";
import type { BrowserApp } from "./support.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read any field.
type Body = any;

/** Where the media element of a page is, by its own words. */
interface MediaState {
  readonly currentTime: number;
  readonly paused: boolean;
  readonly src: string;
}

/** What tests of public links do all the time, in the name of one person. */
export function linkTools(app: BrowserApp, token: string) {
  const manage = async (method: string, path: string, body?: unknown): Promise<Body> => {
    const answer = await call(app, method, `/_/api/v1${path}`, body, { token, version: null });
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  return {
    manage,
    /** Makes a recording public. @returns its first link. */
    publish: async (recordingId: string): Promise<Body> => {
      await manage("PATCH", `/recordings/${recordingId}`, { share_state: "public" });
      return (await manage("GET", `/recordings/${recordingId}/links`)).links[0];
    },
  };
}

/** The path of a link's page. */
export function pathOf(url: string): string {
  return new URL(url).pathname;
}

/** Waits until what the media element of a page says fits. */
export function untilMedia(page: Pick<Page, "evaluate">, what: string, isSo: (state: MediaState) => boolean) {
  return until(what, async () => {
    const state = await page.evaluate<MediaState | null>(
      `(({ currentTime, paused, currentSrc }) => ({ currentTime, paused, src: currentSrc }))(
        document.querySelector("video, audio") ?? {})`,
    );
    return state !== null && isSo(state) ? state : undefined;
  });
}

/** What a browser says by itself of an answer that is no success, which the page is made for. */
export function withoutRefusals(complaints: readonly string[]): string[] {
  return complaints.filter(
    (one) =>
      !/Failed to load resource: the server responded with a status of (401|403|404|410|429)/.test(one),
  );
}

/** Fails where something is wider than the screen. */
export async function assertFits(page: Page): Promise<void> {
  assert.ok(
    await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
    "nothing is wider than the screen",
  );
}
