import { createContext, useContext, useSyncExternalStore } from "react";
import type { Playback, PlaybackState } from "./playback.ts";

/**
 * What player and transcript need. It changes nothing on the server, so the public link page can provide it too.
 */
export interface PlayerContextValue {
  /** Identifies the media in query keys. */
  readonly id: string;
  readonly title: string;
  readonly durationMs: number;
  readonly hasTranscript: boolean;
  /** False for a transcript without media. */
  readonly hasMedia: boolean;
  /** Highlights shown on the seek bar. */
  readonly markers: readonly Marker[];
  /** In order; shown on the seek bar and in the transcript. */
  readonly chapters: readonly { readonly title: string; readonly start: number }[];
  /** Left out on public links. */
  readonly comments?: { readonly marks: readonly CommentMark[]; readonly open: (id: string) => void };
  readonly playback: Playback;
  /** Seeks to a position and shows its transcript line. */
  readonly goTo: (ms: number) => void;
  /** Subscribes to `goTo`. @returns a function that unsubscribes. */
  readonly onGoTo: (listener: (ms: number) => void) => () => void;
  /** Copies a link to a position. */
  readonly copyLink: (ms: number) => void;
}

/** An open comment at a moment in milliseconds. */
export interface CommentMark {
  readonly id: string;
  /** Null: a deleted user. */
  readonly author: string | null;
  /** Markdown. */
  readonly text: string;
  readonly timestamp: number;
}

/** A range on the seek bar. Times in milliseconds. */
interface Marker {
  readonly id: string;
  readonly text: string;
  readonly timestamp: number;
  readonly duration: number;
}

/** The URLs of the media. They expire; the player refetches them when one fails. */
export interface MediaSource {
  readonly isVideo: boolean;
  readonly src: string | undefined;
  readonly poster: string | null;
  readonly storyboard: {
    readonly index_url: string;
    readonly sheets: readonly { readonly name: string; readonly url: string }[];
  } | null;
  readonly waveformUrl: string | null;
}

export const PlayerContext = createContext<PlayerContextValue | null>(null);

export function usePlayerContext(): PlayerContextValue {
  const player = useContext(PlayerContext);
  if (player === null) throw new Error("usePlayerContext was called outside a player");
  return player;
}

/** Selects a part of the playback state; re-renders only when it changes. */
export function usePlaybackState<T>(select: (state: PlaybackState) => T): T {
  const { playback } = usePlayerContext();
  return useSyncExternalStore(playback.subscribe, () => select(playback.getState()));
}

/** Implements `goTo` and `onGoTo` for a playback. */
export function createSeeking(playback: Playback): Pick<PlayerContextValue, "goTo" | "onGoTo"> {
  const listeners = new Set<(ms: number) => void>();
  return {
    goTo: (ms) => {
      playback.seek(ms);
      for (const listener of listeners) listener(ms);
    },
    onGoTo: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
