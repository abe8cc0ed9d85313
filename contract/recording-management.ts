import { z } from "zod";
import { Timestamp, Uuid } from "./common.ts";
import { operation } from "./operation.ts";
import { RecordingParams } from "./recordings.ts";

const Count = z.int().min(0);

/** What was removed with a recording. */
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
      transcript_edits: Count.meta({ description: "Entries of the history of its transcript." }),
      uploads: Count.meta({ description: "The upload it came from, with its attributes and transcript." }),
      events: Count.meta({ description: "Earlier events of it, its highlights and its upload." }),
      deliveries: Count.meta({
        description: "Deliveries of those events, whose payload was removed; none of them is sent any more.",
      }),
      objects: Count.meta({ description: "Files in the store." }),
    }),
    is_complete: z.boolean().meta({
      description:
        "false: some files could not be removed just now; nothing leads to them, and the server removes them by itself.",
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
    "Removes a recording for good, with its files, transcript, highlights, upload and events. Its recorders, admins and workspace tokens may.",
  params: RecordingParams,
  response: DeletionReceipt,
  errors: ["forbidden", "not_found"],
});
