import { createContext, useContext } from "react";
import type { RecordingActions, View } from "../api/recording.ts";
import type { Watching } from "./watching.ts";

/** What every part of the page of one recording knows. */
export interface PageContext extends Watching {
  readonly view: View;
  readonly actions: RecordingActions;
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
