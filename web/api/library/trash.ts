import { infiniteQueryOptions, type QueryClient, queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import * as contract from "../../../contract/recordings/recording-management.ts";
import { call } from "../client/call.ts";
import { markChanged } from "./pages.ts";

export type TrashedRecording = z.output<typeof contract.TrashedRecording>;

type TrashPage = z.output<typeof contract.listTrash.response>;

/** Deleted recordings that the user can restore, last deleted first. */
export const trashQuery = infiniteQueryOptions({
  queryKey: ["trash"],
  initialPageParam: null as string | null,
  getNextPageParam: (last: TrashPage) => last.cursor,
  queryFn: ({ pageParam, signal }): Promise<TrashPage> =>
    call(contract.listTrash, { signal, query: { cursor: pageParam } }),
});

/** A deleted recording that the user can restore; ends with 404 for others. */
export function trashedQuery(id: string) {
  return queryOptions({
    queryKey: ["trash", id],
    queryFn: ({ signal }) => call(contract.getTrashedRecording, { params: { recording_id: id }, signal }),
  });
}

/** Permanently deletes what the user can restore and was deleted before a time. @returns how many were deleted. */
export async function emptyTrash(before: string): Promise<number> {
  let deleted = 0;
  for (;;) {
    const part = await call(contract.emptyTrash, { body: { deleted_before: before } });
    deleted += part.deleted;
    // Without progress, what is left can't be deleted now.
    if (part.is_complete || part.deleted === 0) return deleted;
  }
}

export const deleteRecording = (id: string) =>
  call(contract.deleteRecording, { params: { recording_id: id } });

export const restoreRecording = (id: string) =>
  call(contract.restoreRecording, { params: { recording_id: id } });

export const purgeRecording = (id: string) => call(contract.purgeRecording, { params: { recording_id: id } });

/**
 * Refetches what shows recordings that were changed, deleted or restored: lists, the trash, highlights and stories.
 * @param ids of the recordings; null for restored ones, which may be in no list.
 */
export async function refreshAfterTrash(client: QueryClient, ids: readonly string[] | null): Promise<void> {
  markChanged(client, ids);
  await Promise.all(
    ["recordings", "recording", "trash", "highlights", "stories", "story", "search"].map((key) =>
      client.invalidateQueries({ queryKey: [key] }),
    ),
  );
}
