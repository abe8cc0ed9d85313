import { z } from "zod";
import { Cause } from "../causes/causes.ts";
import { CursorInput, NextCursor, Success, TimestampInput, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { Recording, RecordingFilter, RecordingParams, Tag } from "./recordings.ts";

const base = { tag: "Library", gate: "every_version", permission: "read" } as const;

/** Recordings counted at most. */
export const maxCounted = 100_000;

/** Recordings changed by one request at most. */
const maxBulk = 1000;

const LibrarySort = z.enum(["newest", "oldest", "title"]);

/** The filters of List Library. */
export const LibraryFilter = RecordingFilter.omit({ before_datetime: true, after_datetime: true }).extend({
  from: TimestampInput.optional().meta({ description: "Only recordings that start at this time or later." }),
  to: TimestampInput.optional().meta({ description: "Only recordings that start before this time." }),
  favorite: z
    .boolean()
    .optional()
    .meta({ description: "true: only the caller's favorites (personal only)." }),
});

export const LibraryItem = z
  .strictObject({
    recording: Recording,
    is_favorite: z.boolean(),
    can_change: z.boolean().meta({ description: "Whether the caller may change, share and delete it." }),
  })
  .meta({ id: "LibraryItem" });

export const listLibrary = operation({
  ...base,
  id: "listLibrary",
  method: "POST",
  path: "/_/api/v1/library",
  summary: "List Library",
  description: `Lists the recordings that the caller can see, 100 at a time with their participants, in a chosen order. The first page has their number, counted up to ${maxCounted}.`,
  body: z.object({
    cursor: CursorInput.optional(),
    sort: LibrarySort.optional().meta({ description: "Default: `newest`." }),
    filter: LibraryFilter.optional(),
  }),
  response: z.strictObject({
    recordings: z.array(LibraryItem),
    count: z
      .int()
      .nullable()
      .meta({
        description: `How many recordings match; ${maxCounted}: this many or more. null on later pages.`,
      }),
    cursor: NextCursor,
  }),
  errors: ["invalid_json", "invalid_input", "invalid_cursor", "body_too_large"],
});

const favorite = {
  ...base,
  path: "/_/api/v1/recordings/:recording_id/favorite",
  params: RecordingParams,
  response: Success,
  errors: ["forbidden", "not_found"],
} as const;

export const addFavorite = operation({
  ...favorite,
  id: "addFavorite",
  method: "PUT",
  summary: "Add Favorite",
  description: "Marks a recording as a favorite of the caller. Not for workspace tokens, which have no user.",
});

export const removeFavorite = operation({
  ...favorite,
  id: "removeFavorite",
  method: "DELETE",
  summary: "Remove Favorite",
  description: "Removes a recording from the caller's favorites.",
});

const RecordingIds = z.array(Uuid).min(1).max(maxBulk);

const BulkChange = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("add_tag"), tag: Tag }),
  z.strictObject({ kind: z.literal("remove_tag"), tag: Tag }),
  z.strictObject({ kind: z.literal("share_with_team"), team_id: Uuid }),
  z.strictObject({ kind: z.literal("unshare_from_team"), team_id: Uuid }),
  z.strictObject({ kind: z.literal("share_with_user"), user_id: Uuid }),
  z.strictObject({ kind: z.literal("unshare_from_user"), user_id: Uuid }),
  z.strictObject({ kind: z.literal("delete") }),
  z.strictObject({ kind: z.literal("restore") }),
]);

export const changeRecordings = operation({
  ...base,
  id: "changeRecordings",
  permission: "write",
  method: "POST",
  path: "/_/api/v1/recordings/bulk",
  summary: "Change Many Recordings",
  description: `Makes one change to up to ${maxBulk} recordings: adds or removes a tag, shares them with a team or user or ends that, deletes them, or restores them from the trash. Each recording is changed by itself, with the permission and the events of the single operation; those that could not be changed are listed with the reason.`,
  body: z.strictObject({ recording_ids: RecordingIds, change: BulkChange }),
  response: z.strictObject({
    done: z.array(Uuid).meta({ description: "Changed, or already as asked." }),
    changed: z.array(Uuid).meta({ description: "Those of `done` that were not already as asked." }),
    failed: z.array(
      z.strictObject({ recording_id: Uuid, error: z.string(), detail: z.string(), cause: Cause.optional() }),
    ),
    purge_datetime: z.iso.datetime().nullable().meta({
      description: "After `delete`: when the trash deletes them permanently; null: they are deleted already.",
    }),
  }),
  errors: ["invalid_json", "invalid_input", "body_too_large", "forbidden"],
});
