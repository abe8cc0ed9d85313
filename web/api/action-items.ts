import { infiniteQueryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import { type ListedActionItem, listAllActionItems } from "../../contract/recordings/intelligence.ts";
import { call } from "./client/call.ts";

export type ListedItem = z.output<typeof ListedActionItem>;
type ItemPage = z.output<(typeof listAllActionItems)["response"]>;

/** Filters as the API takes them. */
export type ItemFilter = Omit<z.input<typeof listAllActionItems.query>, "cursor">;

/** The action items of all recordings the user can see, the newest meeting first. */
export function allActionItemsQuery(filter: ItemFilter) {
  return infiniteQueryOptions({
    queryKey: ["action items", filter],
    initialPageParam: null as string | null,
    getNextPageParam: (last: ItemPage) => last.cursor,
    queryFn: ({ pageParam, signal }): Promise<ItemPage> =>
      call(listAllActionItems, { signal, query: { ...filter, cursor: pageParam } }),
  });
}
