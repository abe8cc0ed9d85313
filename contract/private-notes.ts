import { z } from "zod";
import { Success } from "./common.ts";
import { operation } from "./operation.ts";
import { RecordingParams } from "./recordings.ts";

const path = "/_/api/v1/recordings/:recording_id/private_notes";
const rule = "Only their writer reads them; a workspace token has none.";

export const PrivateNotes = z
  .strictObject({ text: z.string().nullable().meta({ description: "Markdown; null: there are none." }) })
  .meta({ id: "PrivateNotes" });

export const getPrivateNotes = operation({
  id: "getPrivateNotes",
  tag: "Recording data",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path,
  summary: "Get Private Notes",
  description: `The caller's own notes on a recording. ${rule}`,
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
  description: `Writes the caller's own notes on a recording. Whoever sees it may. ${rule}`,
  params: RecordingParams,
  body: z.object({
    text: z
      .string()
      .max(100_000)
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
  description: "Removes the caller's own notes on a recording.",
  params: RecordingParams,
  response: Success,
  errors: ["forbidden", "not_found"],
});
