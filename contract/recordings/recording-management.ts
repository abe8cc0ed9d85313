import { z } from "zod";
import { CursorInput, NextCursor, Success, Timestamp, TimestampInput, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { RecordingParams } from "./recordings.ts";

const Count = z.int().min(0);

/** What was deleted with a recording. */
export const DeletionReceipt = z
  .strictObject({
    id: Uuid,
    deleted_datetime: Timestamp,
    removed: z.strictObject({
      recordings: Count,
      participants: Count,
      transcript_segments: Count,
      highlights: Count,
      private_notes: Count,
      transcript_edits: Count.meta({ description: "Entries of its transcript's history." }),
      uploads: Count.meta({ description: "The upload it came from, with attributes and transcript." }),
      events: Count.meta({ description: "Earlier events of the recording, its highlights and its upload." }),
      deliveries: Count.meta({
        description: "Deliveries of those events; their payloads were deleted and pending ones are not sent.",
      }),
      objects: Count.meta({ description: "Files in the object store." }),
    }),
    is_complete: z.boolean().meta({
      description:
        "false: the recording is in the trash, or some files could not be deleted yet; they are no longer accessible, and the server deletes them later.",
    }),
  })
  .meta({ id: "DeletionReceipt" });

const Purge = Timestamp.nullable().meta({
  description:
    "When the server deletes the recording permanently, unless it is restored or on legal hold; null: it is deleted already.",
});

const base = { tag: "Management", gate: "every_version", permission: "write" } as const;

export const deleteRecording = operation({
  ...base,
  id: "deleteRecording",
  method: "DELETE",
  path: "/_/api/v1/recordings/:recording_id",
  summary: "Delete Recording",
  description:
    "Deletes a recording: no one can see it any longer, its public links stop working, its upload and its earlier events are deleted, and `highlight_deleted` and `recording_deleted` are sent. The recording itself stays in the trash for the time set for the workspace (`trash_days`, 30 by default) and can be restored until then; with `trash_days` 0 it is deleted permanently with its files, transcript and highlights. Allowed for its recorders, admins and workspace tokens.",
  params: RecordingParams,
  response: DeletionReceipt.extend({ purge_datetime: Purge }),
  errors: ["forbidden", "not_found", "wrong_state"],
});

/** A recording in the trash. */
export const TrashedRecording = z
  .strictObject({
    id: Uuid,
    title: z.string(),
    media_type: z.enum(["audio", "transcript", "video"]),
    start_datetime: Timestamp,
    duration_ms: z.int(),
    deleted_datetime: Timestamp,
    deleted_by: z.strictObject({ id: Uuid, name: z.string() }).nullable().meta({
      description: "The user who deleted it; null: a workspace token, or a user who is gone.",
    }),
    purge_datetime: Timestamp.meta({
      description: "When the server deletes it permanently, unless it is on legal hold.",
    }),
    is_held: z.boolean().meta({ description: "Whether it is on legal hold, and so stays longer." }),
  })
  .meta({ id: "TrashedRecording" });

export const listTrash = operation({
  ...base,
  id: "listTrash",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/trash",
  summary: "List Trash",
  description:
    "Lists the deleted recordings that the caller can restore, last deleted first: those the caller recorded, and for admins and workspace tokens all that they could see.",
  query: z.object({ cursor: CursorInput.optional() }),
  response: z.strictObject({
    recordings: z.array(TrashedRecording),
    total: z.strictObject({ recordings: Count, bytes: Count }).nullable().meta({
      description:
        "How many there are and the size of their files; null on later pages, and when counting takes too long.",
    }),
    cursor: NextCursor,
  }),
  errors: ["invalid_input", "invalid_cursor"],
});

export const getTrashedRecording = operation({
  ...base,
  id: "getTrashedRecording",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/trash/:recording_id",
  summary: "Get Recording From Trash",
  description: "Returns a deleted recording that the caller can restore.",
  params: RecordingParams,
  response: TrashedRecording,
  errors: ["not_found"],
});

/** Recordings deleted by one request to empty the trash at most. */
export const maxEmptied = 50;

export const emptyTrash = operation({
  ...base,
  id: "emptyTrash",
  method: "POST",
  path: "/_/api/v1/trash/empty",
  summary: "Empty Trash",
  description: `Permanently deletes up to ${maxEmptied} recordings that the caller can restore, with their files. Repeat until \`is_complete\`. Recordings on legal hold stay.`,
  body: z.strictObject({
    deleted_before: TimestampInput.optional().meta({
      description: "Only recordings that were deleted before this time, such as those that a user was shown.",
    }),
  }),
  response: z.strictObject({
    deleted: Count,
    is_complete: z.boolean().meta({ description: "Whether none is left that this request could delete." }),
  }),
  errors: ["invalid_json", "invalid_input", "body_too_large", "forbidden"],
});

export const restoreRecording = operation({
  ...base,
  id: "restoreRecording",
  method: "POST",
  path: "/_/api/v1/trash/:recording_id/restore",
  summary: "Restore Recording",
  description:
    "Restores a recording from the trash for everyone who may see it, with its highlights, notes, public links and positions in stories. To API clients and hooks it is a new recording with the same ID: `recording_added`, `highlight_added` and `story_updated` are sent. Allowed for those who could delete it.",
  params: RecordingParams,
  response: Success,
  errors: ["forbidden", "not_found"],
});

export const purgeRecording = operation({
  ...base,
  id: "purgeRecording",
  method: "DELETE",
  path: "/_/api/v1/trash/:recording_id",
  summary: "Delete Recording From Trash",
  description:
    "Permanently deletes a recording in the trash, with its files. Sends no events, because deleting it did. Allowed for those who could delete it.",
  params: RecordingParams,
  response: DeletionReceipt,
  errors: ["forbidden", "not_found", "wrong_state"],
});
