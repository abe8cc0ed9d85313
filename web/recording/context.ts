import { createContext, useContext } from "react";
import type { RecordingActions, View } from "../api/recording/recording.ts";
import type { PlayerContextValue } from "../player/context.ts";
import type { ClipRange } from "../transcript/selection-toolbar.tsx";

/** Shared by all parts of the recording page. */
export interface PageContext extends PlayerContextValue {
  readonly view: View;
  readonly actions: RecordingActions;
  /** Opens the dialog for a new highlight. */
  readonly createClip: (range: ClipRange) => void;
}

export const RecordingContext = createContext<PageContext | null>(null);

export function useRecording(): PageContext {
  const context = useContext(RecordingContext);
  if (context === null) throw new Error("useRecording was called outside a recording page");
  return context;
}
