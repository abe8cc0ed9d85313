import assert from "node:assert/strict";
import { call, type TestApp } from "../support/app.ts";
import { until } from "../support/until.ts";
import type { Evaluator } from "./support.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read any field.
type Body = any;

/** The state of a page's media element. */
interface MediaState {
  readonly currentTime: number;
  readonly paused: boolean;
  readonly src: string;
}

/** Helpers for public links, as one user. */
export function linkTools(app: TestApp, token: string) {
  const manage = async (method: string, path: string, body?: unknown): Promise<Body> => {
    const response = await call(app, method, `/_/api/v1${path}`, body, { token, version: null });
    assert.equal(response.status, 200, response.text);
    return response.body;
  };
  return {
    manage,
    /** Publishes a recording. @returns its first link. */
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

/** Waits until the page's media element matches. */
export function untilMedia(page: Evaluator, what: string, matches: (state: MediaState) => boolean) {
  return until(what, async () => {
    const state = await page.evaluate<MediaState | null>(
      `(({ currentTime, paused, currentSrc }) => ({ currentTime, paused, src: currentSrc }))(
        document.querySelector("video, audio") ?? {})`,
    );
    return state !== null && matches(state) ? state : undefined;
  });
}

/** Drops the browser's own messages about expected error responses. */
export function withoutRefusals(complaints: readonly string[]): string[] {
  return complaints.filter(
    (one) =>
      !/Failed to load resource: the server responded with a status of (401|403|404|410|429)/.test(one),
  );
}

/** Fails if something overflows the screen. */
export async function assertFits(page: Evaluator): Promise<void> {
  assert.ok(
    await page.evaluate<boolean>(
      "document.documentElement.scrollWidth <= document.documentElement.clientWidth",
    ),
    "nothing overflows the screen",
  );
}
