import { createContext, useContext, useSyncExternalStore } from "react";
import type { Playback, PlaybackState } from "./player/playback.ts";

/**
 * What player and transcript know of what they show. Nothing in it changes anything on the server: a page for people
 * who never signed in gives the same.
 */
export interface Watching {
  /** Tells what is shown from everything else, in what is kept of it. */
  readonly id: string;
  readonly title: string;
  readonly durationMs: number;
  readonly hasWords: boolean;
  /** False for a transcript alone: there is nothing to play. */
  readonly hasMedia: boolean;
  /** Parts that are marked on the line. */
  readonly marks: readonly Mark[];
  readonly playback: Playback;
  /** Goes to a moment: plays from there, and shows its words. */
  readonly goTo: (ms: number) => void;
  /** Calls when somebody goes to a moment. @returns what ends that. */
  readonly onGoTo: (listener: (ms: number) => void) => () => void;
  /** Copies the address of a moment. */
  readonly copyLink: (ms: number) => void;
}

/** A marked part. Times in milliseconds. */
export interface Mark {
  readonly id: string;
  readonly text: string;
  readonly timestamp: number;
  readonly duration: number;
}

/** Where what plays is. Addresses end; whoever finds one ended asks for new ones. */
export interface Film {
  readonly isVideo: boolean;
  readonly src: string | undefined;
  readonly poster: string | null;
  readonly storyboard: {
    readonly index_url: string;
    readonly sheets: readonly { readonly name: string; readonly url: string }[];
  } | null;
  readonly waveformUrl: string | null;
}

export const WatchingContext = createContext<Watching | null>(null);

export function useWatching(): Watching {
  const watching = useContext(WatchingContext);
  if (watching === null) throw new Error("this part stands outside of what is watched");
  return watching;
}

/** A part of how playing stands; whoever uses it is drawn again only when that part changes. */
export function usePlaybackState<T>(select: (state: PlaybackState) => T): T {
  const { playback } = useWatching();
  return useSyncExternalStore(playback.subscribe, () => select(playback.getState()));
}

/** Goes to moments of what plays, and tells the parts of the page that want to know. */
export function createMoments(playback: Playback): Pick<Watching, "goTo" | "onGoTo"> {
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
