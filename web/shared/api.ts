import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type {
  getShared,
  getSharedTranscript,
  SharedItem,
  SharedView,
  unlockShared,
} from "../../contract/public-links.ts";
import { ApiError, call, path } from "../api/client.ts";
import type { Speaker, Transcript } from "../api/recording.ts";

export type View = z.output<typeof SharedView>;
export type Item = z.output<typeof SharedItem>;
type Entry = Awaited<ReturnType<typeof askForTranscript>>["entries"][number];

/** Soon while a clip is being cut; otherwise so that a link taken back is noticed by whoever has it open. */
const cuttingPauseMs = 2500;
const idlePauseMs = 60_000;

/** What a link shows. @param access what its password gave; null without. */
export function sharedQuery(token: string, access: string | null) {
  return queryOptions({
    queryKey: ["shared", token, access],
    // Whoever comes back to the tab sees what holds now.
    staleTime: 0,
    queryFn: ({ signal }) =>
      call<typeof getShared>("GET", path`/_/api/v1/shared/${token}`, { query: { access }, signal }),
    refetchInterval: ({ state }) => {
      // Asked too often, the server wants a rest, and has said nothing of the link.
      const status = state.error instanceof ApiError ? state.error.status : 0;
      if (status >= 400 && status < 500 && status !== 429) return false;
      const isCutting = state.data?.items.some((item) => item.state === "preparing") ?? false;
      return isCutting ? cuttingPauseMs : idlePauseMs;
    },
  });
}

/** What is said in one thing that a link shows, as the player and the list of lines take it. */
export function sharedTranscriptQuery(token: string, access: string | null, item: Item) {
  return queryOptions({
    queryKey: ["shared", token, access, "transcript", item.id],
    enabled: item.transcript_url !== null,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) =>
      readEntries((await askForTranscript(token, access, item.id, signal)).entries),
  });
}

function askForTranscript(token: string, access: string | null, itemId: string, signal: AbortSignal) {
  return call<typeof getSharedTranscript>("GET", path`/_/api/v1/shared/${token}/items/${itemId}/transcript`, {
    query: { access },
    signal,
  });
}

/** Gives the password of a link. */
export function unlock(token: string, password: string) {
  return call<typeof unlockShared>("POST", path`/_/api/v1/shared/${token}/unlock`, { body: { password } });
}

function readEntries(entries: readonly Entry[]): Transcript {
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
    speakers: [...speakers.values()],
    segments: entries.map((entry, index) => ({ ...entry, index, participant_id: null, is_edited: false })),
  };
}

const storageKey = (token: string): string => `parley.link.${token}`;

/** What the password of a link gave, as far as this tab still knows. */
export function readAccess(token: string): string | null {
  try {
    return sessionStorage.getItem(storageKey(token));
  } catch {
    // Storage is shut, as in a frame of another page.
    return null;
  }
}

/** Keeps what a password gave until the tab is closed; null forgets it. */
export function keepAccess(token: string, access: string | null): void {
  try {
    if (access === null) sessionStorage.removeItem(storageKey(token));
    else sessionStorage.setItem(storageKey(token), access);
  } catch {
    // Storage is shut: the password is asked for again after a reload.
  }
}
