import { createContext, useContext, useSyncExternalStore } from "react";
import type { RecordingActions, View } from "../api/recording.ts";
import type { Playback, PlaybackState } from "./player/playback.ts";

/** What every part of the page of one recording knows. */
export interface PageContext {
  readonly id: string;
  readonly view: View;
  readonly actions: RecordingActions;
  readonly playback: Playback;
  /** False for a transcript alone: there is nothing to play. */
  readonly hasMedia: boolean;
  /** Goes to a moment: plays from there, and shows its words. */
  readonly goTo: (ms: number) => void;
  /** Calls when somebody goes to a moment. @returns what ends that. */
  readonly onGoTo: (listener: (ms: number) => void) => () => void;
  /** Asks for the title of a new clip. */
  readonly makeClip: (range: ClipRange) => void;
}

/** A part of a recording in milliseconds, and what is said in it. */
export interface ClipRange {
  readonly startMs: number;
  readonly endMs: number;
  readonly text: string;
}

export const RecordingContext = createContext<PageContext | null>(null);

export function useRecording(): PageContext {
  const context = useContext(RecordingContext);
  if (context === null) throw new Error("this part stands outside of a recording's page");
  return context;
}

/** A part of how playing stands; whoever uses it is drawn again only when that part changes. */
export function usePlaybackState<T>(select: (state: PlaybackState) => T): T {
  const { playback } = useRecording();
  return useSyncExternalStore(playback.subscribe, () => select(playback.getState()));
}
