import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type { Operation } from "../../contract/operation.ts";
import { call, path } from "./client.ts";

/** What the operation takes and answers. */
type UpdateActionItem = Operation & {
  body: z.ZodObject<{ status: z.ZodEnum<{ pending: "pending"; completed: "completed" }> }>;
};

/** Something that somebody is to do, with what it takes to tick it. */
export interface ActionItem {
  readonly id: string;
  readonly status: "pending" | "completed";
  readonly timestamp: number;
  readonly text: string;
  readonly assignee: { readonly id: string; readonly name: string; readonly user_id: string | null } | null;
}

/** The action items of a recording, in the order in which they were mentioned. */
export function actionItemsQuery(id: string) {
  return queryOptions({
    queryKey: ["recording", id, "action items"],
    retry: false,
    queryFn: async ({ signal }): Promise<ActionItem[]> => {
      const answer = await call("GET", path`/_/api/v1/recordings/${id}/action-items`, { signal });
      return (answer as unknown as { action_items: ActionItem[] }).action_items;
    },
  });
}

/** Ticks an action item, or takes the tick back. */
export async function tickActionItem(id: string, item: string, isDone: boolean): Promise<void> {
  await call<UpdateActionItem>("PATCH", path`/_/api/v1/recordings/${id}/action-items/${item}`, {
    body: { status: isDone ? "completed" : "pending" },
  });
}
