import { createContext, useContext } from "react";
import type { RecordingActions, View } from "../api/recording/recording.ts";
import type { PlayerContextValue } from "../player/context.ts";
import type { ClipRange } from "../transcript/clip-range.ts";
import type { Thread } from "./panels/comments/threads.ts";

/** Shared by all parts of the recording page. */
export interface PageContext extends PlayerContextValue {
  readonly view: View;
  readonly actions: RecordingActions;
  /** Opens the dialog for a new highlight. */
  readonly createClip: (range: ClipRange) => void;
  readonly openThreads: readonly Thread[];
  /** What the tab of comments is opened for; a new object each time. */
  readonly commentTask: CommentTask | null;
}

/** Shows a comment, or starts one at a moment in milliseconds. `seeks`: the player follows. */
export type CommentTask = { readonly id: string; readonly seeks: boolean } | { readonly at: number };

export const RecordingContext = createContext<PageContext | null>(null);

export function useRecording(): PageContext {
  const context = useContext(RecordingContext);
  if (context === null) throw new Error("useRecording was called outside a recording page");
  return context;
}
