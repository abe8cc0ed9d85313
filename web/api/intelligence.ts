import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type {
  ActionItemDetail,
  getRecordingIntelligence,
  listActionItems,
  RecordingIntelligence,
  runRecordingIntelligence,
  updateActionItem,
} from "../../contract/intelligence.ts";
import { call, path } from "./client.ts";

export type ActionItem = z.output<typeof ActionItemDetail>;
export type Understanding = z.output<typeof RecordingIntelligence>;

/** The action items of a recording, in the order in which they were mentioned. */
export function actionItemsQuery(id: string) {
  return queryOptions({
    queryKey: ["recording", id, "action items"],
    queryFn: async ({ signal }) =>
      (await call<typeof listActionItems>("GET", path`/_/api/v1/recordings/${id}/action-items`, { signal }))
        .action_items,
  });
}

/** Ticks an action item, or takes the tick back. */
export function tickActionItem(id: string, item: string, isDone: boolean): Promise<ActionItem> {
  return call<typeof updateActionItem>("PATCH", path`/_/api/v1/recordings/${id}/action-items/${item}`, {
    body: { status: isDone ? "completed" : "pending" },
  });
}

const leastPauseMs = 2000;
const mostPauseMs = 20_000;

/** How far the language model is. Asked again, less and less often, until it is done. */
export function understandingQuery(id: string) {
  return queryOptions({
    queryKey: ["recording", id, "intelligence"],
    queryFn: ({ signal }) =>
      call<typeof getRecordingIntelligence>("GET", path`/_/api/v1/recordings/${id}/intelligence`, { signal }),
    refetchInterval: ({ state }) =>
      state.data !== undefined && isUnderWay(state.data)
        ? Math.min(mostPauseMs, leastPauseMs * 1.25 ** Math.max(0, state.dataUpdateCount - 1))
        : false,
  });
}

export function isUnderWay({ status }: Understanding): boolean {
  return status === "pending" || status === "running" || status === "waiting";
}

/** Has summary, action items and sections made anew. */
export function understandAgain(id: string): Promise<Understanding> {
  return call<typeof runRecordingIntelligence>("POST", path`/_/api/v1/recordings/${id}/intelligence`);
}
