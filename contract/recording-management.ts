import { z } from "zod";
import { Timestamp, Uuid } from "./common.ts";
import { operation } from "./operation.ts";
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
        "false: some files could not be deleted yet; they are no longer accessible, and the server keeps trying to delete them.",
    }),
  })
  .meta({ id: "DeletionReceipt" });

export const deleteRecording = operation({
  id: "deleteRecording",
  tag: "Management",
  gate: "every_version",
  permission: "write",
  method: "DELETE",
  path: "/_/api/v1/recordings/:recording_id",
  summary: "Delete Recording",
  description:
    "Permanently deletes a recording with its files, transcript, highlights, upload and events. Allowed for its recorders, admins and workspace tokens.",
  params: RecordingParams,
  response: DeletionReceipt,
  errors: ["forbidden", "not_found", "wrong_state"],
});
