import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import { type Chapter, replaceChapters } from "../../../contract/recordings/chapters.ts";
import {
  type ActionItemDetail,
  getRecordingIntelligence,
  listActionItems,
  type RecordingIntelligence,
  runRecordingIntelligence,
  updateActionItem,
} from "../../../contract/recordings/intelligence.ts";
import { type Body, call } from "../client/call.ts";

export type ActionItem = z.output<typeof ActionItemDetail>;
export type IntelligenceState = z.output<typeof RecordingIntelligence>;

/** The action items of a recording, in the order in which they were mentioned. */
export function actionItemsQuery(id: string) {
  return queryOptions({
    queryKey: ["recording", id, "action items"],
    queryFn: async ({ signal }) =>
      (await call(listActionItems, { params: { recording_id: id }, signal })).action_items,
  });
}

/** Marks an action item as completed or pending. */
export function tickActionItem(id: string, item: string, isDone: boolean): Promise<ActionItem> {
  return call(updateActionItem, {
    params: { recording_id: id, item_id: item },
    body: { status: isDone ? "completed" : "pending" },
  });
}

const minPauseMs = 2000;
const maxPauseMs = 20_000;

/** Progress of the language model, polled with growing pauses until it is done. */
export function intelligenceStateQuery(id: string) {
  return queryOptions({
    queryKey: ["recording", id, "intelligence"],
    queryFn: ({ signal }) => call(getRecordingIntelligence, { params: { recording_id: id }, signal }),
    refetchInterval: ({ state }) =>
      state.data !== undefined && isInProgress(state.data)
        ? Math.min(maxPauseMs, minPauseMs * 1.25 ** Math.max(0, state.dataUpdateCount - 1))
        : false,
  });
}

export function isInProgress({ status }: IntelligenceState): boolean {
  return status === "pending" || status === "running" || status === "waiting";
}

/** Replaces the chapters of a recording. */
export function saveChapters(id: string, chapters: readonly Chapter[]): Promise<unknown> {
  return call(replaceChapters, { params: { recording_id: id }, body: { chapters: [...chapters] } });
}

/** Regenerates summary, chapters, action items and sections. @param body how to write; by default as the last time. */
export function rerunIntelligence(
  id: string,
  body: Body<typeof runRecordingIntelligence> = {},
): Promise<IntelligenceState> {
  return call(runRecordingIntelligence, { params: { recording_id: id }, body });
}
