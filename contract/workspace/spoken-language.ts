import { z } from "zod";
import { Uuid } from "../common.ts";
import { operation } from "../operation.ts";

/** The language of a meeting, as a setting. */
export const SpokenLanguage = z
  .string()
  .trim()
  .max(35)
  .regex(
    /^([A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*|auto)$/,
    "must be a language code such as en or pt-BR, or auto",
  )
  .meta({
    description:
      "Language that is spoken, for transcription: a code such as `en`, or `auto`. An upload's or recording's language counts before its meeting type's, the workspace's and the server's; if all are `auto`, the model detects it.",
    example: "en",
  });

/** The language to store; null: automatic. */
export function languageOf(setting: string): string | null {
  return setting === "auto" ? null : setting;
}

/** Words that a speech model should know, as a setting. */
export const Vocabulary = z
  .array(z.string().trim().min(1, "must not be blank").max(100))
  .max(200, "can have at most 200 entries")
  .meta({ example: ["Parley", "Ada Lovelace"] });

export const setUploadLanguage = operation({
  id: "setUploadLanguage",
  tag: "Uploads",
  gate: "every_version",
  permission: "write",
  method: "PUT",
  path: "/_/api/v1/uploads/:upload_id/language",
  summary: "Set Upload Language",
  description:
    "Sets the language that is spoken in an upload or import, for its transcription. Allowed until its recording exists; afterwards, use Transcribe Again.",
  params: z.object({ upload_id: Uuid }),
  body: z.object({
    language: SpokenLanguage,
  }),
  response: z.strictObject({ upload_id: Uuid, language: z.string().nullable() }),
  errors: ["invalid_json", "invalid_input", "body_too_large", "not_found", "wrong_state"],
});
