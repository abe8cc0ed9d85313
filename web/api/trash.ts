import { infiniteQueryOptions, type QueryClient } from "@tanstack/react-query";
import type { z } from "zod";
import type * as contract from "../../contract/recording-management.ts";
import { call, path } from "./client.ts";

export type TrashedRecording = z.output<typeof contract.TrashedRecording>;

type TrashPage = z.output<typeof contract.listTrash.response>;

/** Deleted recordings that the user can restore, last deleted first. */
export const trashQuery = infiniteQueryOptions({
  queryKey: ["trash"],
  initialPageParam: null as string | null,
  getNextPageParam: (last: TrashPage) => last.cursor,
  queryFn: ({ pageParam, signal }): Promise<TrashPage> =>
    call<typeof contract.listTrash>("GET", "/_/api/v1/trash", { signal, query: { cursor: pageParam } }),
});

export const deleteRecording = (id: string) =>
  call<typeof contract.deleteRecording>("DELETE", path`/_/api/v1/recordings/${id}`);

export const restoreRecording = (id: string) =>
  call<typeof contract.restoreRecording>("POST", path`/_/api/v1/trash/${id}/restore`);

export const purgeRecording = (id: string) =>
  call<typeof contract.purgeRecording>("DELETE", path`/_/api/v1/trash/${id}`);

/** Refetches what shows recordings that were deleted or restored: lists, the trash, highlights and stories. */
export async function refreshAfterTrash(client: QueryClient): Promise<void> {
  await Promise.all(
    ["recordings", "recording", "trash", "highlights", "stories", "story", "search"].map((key) =>
      client.invalidateQueries({ queryKey: [key] }),
    ),
  );
}
