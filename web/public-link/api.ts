import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import {
  getShared,
  getSharedTranscript,
  type SharedItem,
  type SharedView,
  unlockShared,
} from "../../contract/sharing/public-links.ts";
import { ApiError } from "../api/client/api-error.ts";
import { call, urlOf } from "../api/client/call.ts";
import type { Speaker, Transcript } from "../api/recording/recording.ts";

export type View = z.output<typeof SharedView>;
export type Item = z.output<typeof SharedItem>;
type Entry = Awaited<ReturnType<typeof fetchTranscript>>["entries"][number];

/** Polled often while a clip is rendered; otherwise only to notice a revoked link. */
const renderingPollMs = 2500;
const idlePollMs = 60_000;

/** The content of a link. @param access token from unlocking with a password; null without. */
export function sharedQuery(token: string, access: string | null) {
  return queryOptions({
    queryKey: ["shared", token, access],
    // Returning to the tab refetches.
    staleTime: 0,
    queryFn: ({ signal }) => call(getShared, { params: { token }, query: { access }, signal }),
    refetchInterval: ({ state }) => {
      // 429 is about request rates, not about the link: keep polling.
      const status = state.error instanceof ApiError ? state.error.status : 0;
      if (status >= 400 && status < 500 && status !== 429) return false;
      const isRendering = state.data?.items.some((item) => item.state === "preparing") ?? false;
      return isRendering ? renderingPollMs : idlePollMs;
    },
  });
}

/** Where this server serves the cover image of a story. The image's own URL is added so that a new image is loaded. */
export function bannerUrl(token: string, access: string | null, url: string): string {
  const query = new URLSearchParams({ of: url, ...(access === null ? {} : { access }) });
  return `${urlOf(getShared, { params: { token } })}/banner?${query}`;
}

/** The transcript of one item, in the format of player and transcript. */
export function sharedTranscriptQuery(token: string, access: string | null, item: Item) {
  return queryOptions({
    queryKey: ["shared", token, access, "transcript", item.id],
    enabled: item.transcript_url !== null,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) =>
      toTranscript((await fetchTranscript(token, access, item.id, signal)).entries),
  });
}

function fetchTranscript(token: string, access: string | null, itemId: string, signal: AbortSignal) {
  return call(getSharedTranscript, { params: { token, item_id: itemId }, query: { access }, signal });
}

/** Unlocks a link with its password. */
export function unlock(token: string, password: string) {
  return call(unlockShared, { params: { token }, body: { password } });
}

function toTranscript(entries: readonly Entry[]): Transcript {
  const speakers = new Map<string, Speaker>();
  for (const { speaker: name, start, end } of entries) {
    const before = speakers.get(name);
    speakers.set(name, {
      participant_id: null,
      name,
      segments: (before?.segments ?? 0) + 1,
      duration_ms: (before?.duration_ms ?? 0) + Math.max(0, end - start),
    });
  }
  return {
    transcript_version: 0,
    language: null,
    has_word_times: false,
    speakers: [...speakers.values()],
    segments: entries.map((entry, index) => ({ ...entry, index, participant_id: null, is_edited: false })),
  };
}

const storageKey = (token: string): string => `parley.link.${token}`;

/** The access token stored in this tab after unlocking, if any. */
export function readAccess(token: string): string | null {
  try {
    return sessionStorage.getItem(storageKey(token));
  } catch {
    // Storage is blocked, as in embeds.
    return null;
  }
}

/** Stores the access token until the tab is closed; null removes it. */
export function storeAccess(token: string, access: string | null): void {
  try {
    if (access === null) sessionStorage.removeItem(storageKey(token));
    else sessionStorage.setItem(storageKey(token), access);
  } catch {
    // Storage is blocked: the password is required again after a reload.
  }
}
