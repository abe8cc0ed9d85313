import { z } from "zod";
import { Success } from "../common.ts";
import { operation } from "../operation.ts";
import { RecordingParams } from "./recordings.ts";

const path = "/_/api/v1/recordings/:recording_id/private_notes";
const rule = "Only the caller can read them. Not available to workspace tokens.";

/** Length of a user's notes on a recording. */
export const maxNotesCharacters = 100_000;

const PrivateNotes = z
  .strictObject({ text: z.string().nullable().meta({ description: "Markdown; null: no notes." }) })
  .meta({ id: "PrivateNotes" });

export const getPrivateNotes = operation({
  id: "getPrivateNotes",
  tag: "Recording data",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path,
  summary: "Get Private Notes",
  description: `Returns the caller's private notes on a recording. ${rule}`,
  params: RecordingParams,
  response: PrivateNotes,
  errors: ["forbidden", "not_found"],
});

export const putPrivateNotes = operation({
  id: "putPrivateNotes",
  tag: "Recording data",
  gate: "every_version",
  permission: "write",
  method: "PUT",
  path,
  summary: "Put Private Notes",
  description: `Saves the caller's private notes on a recording they can see. ${rule}`,
  params: RecordingParams,
  body: z.object({
    text: z
      .string()
      .max(maxNotesCharacters)
      .refine((text) => text.trim() !== "", "must not be blank; delete the notes instead")
      .meta({ description: "Markdown." }),
  }),
  response: Success,
  errors: ["invalid_json", "invalid_input", "body_too_large", "forbidden", "not_found"],
});

export const deletePrivateNotes = operation({
  id: "deletePrivateNotes",
  tag: "Recording data",
  gate: "every_version",
  permission: "write",
  method: "DELETE",
  path,
  summary: "Delete Private Notes",
  description: "Deletes the caller's private notes on a recording.",
  params: RecordingParams,
  response: Success,
  errors: ["forbidden", "not_found"],
});
