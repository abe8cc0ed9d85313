import { z } from "zod";
import { Role } from "./account-sessions.ts";
import { CursorInput, NextCursor, Timestamp, Uuid } from "./common.ts";
import { operation } from "./operation.ts";
import { NamedRecording } from "./retention.ts";

const writeErrors = ["invalid_json", "invalid_input", "body_too_large", "forbidden"] as const;
const base = { tag: "Retention", gate: "every_version", permission: "admin" } as const;

const Count = z.int().min(0);

const PersonEmail = z
  .string()
  .trim()
  .min(3)
  .max(320)
  .regex(/^[^\s@]+@[^\s@]+$/, "must be an email address");

/** What was done to forget a person. */
export const Erasure = z
  .strictObject({
    id: Uuid,
    recordings: z.enum(["anonymise", "delete"]),
    status: z.enum(["pending", "running", "done"]),
    created_datetime: Timestamp,
    finished_datetime: Timestamp.nullable(),
    receipt: z.strictObject({
      recordings_anonymised: Count,
      recordings_deleted: Count,
      segments_erased: Count.meta({ description: "What the person said, in transcripts that stay." }),
      media_kept: z.array(Uuid).meta({
        description: "Recordings whose file stays, with the person's voice in it: delete them if it must go.",
      }),
      unknown_speakers: z.array(Uuid).meta({
        description:
          "Recordings in whose transcript somebody speaks of whom nobody knows who it is, which may be the person: look at them, or delete them.",
      }),
      held: z.array(Uuid).meta({ description: "Recordings under legal hold, which were left as they are." }),
      uploads_changed: Count,
      account_erased: z.boolean(),
      audit_entries_erased: Count,
    }),
  })
  .meta({ id: "Erasure" });

export const erasePerson = operation({
  ...base,
  id: "erasePerson",
  method: "POST",
  path: "/_/api/v1/erasures",
  summary: "Erase Person",
  description:
    "Removes all data of one person, found by email: their account with sessions, tokens, hooks and notes; their name, email, phone and what they said, wherever they took part; and their email in the audit log. With recordings: delete, recordings they took part in go as a whole. The account goes at once, the rest in the background: ask Get Erasure. This can't be undone.",
  body: z.object({
    email: PersonEmail,
    recordings: z.enum(["anonymise", "delete"]).default("anonymise"),
  }),
  response: Erasure,
  errors: [...writeErrors, "wrong_state"],
});

export const previewErasure = operation({
  ...base,
  id: "previewErasure",
  method: "POST",
  path: "/_/api/v1/erasures/preview",
  summary: "Preview Erasure",
  description:
    "What Erase Person would find of a person with this email now, and whether it would be refused. Nothing is changed.",
  body: z.object({ email: PersonEmail }),
  response: z.strictObject({
    account: z
      .strictObject({ id: Uuid, name: z.string(), role: Role })
      .nullable()
      .meta({ description: "Their account; null: they have none here." }),
    recordings: Count.meta({ description: "In how many they took part." }),
    held: Count.meta({ description: "How many of those a legal hold keeps as they are." }),
    uploads: Count.meta({ description: "Uploads that are no recording yet and name them." }),
    newest: z
      .array(NamedRecording)
      .meta({ description: "The first hundred recordings that no hold keeps, newest first." }),
    refused: z.string().nullable().meta({ description: "Why it can't be done now; null: it can." }),
  }),
  errors: writeErrors,
});

export const listErasures = operation({
  ...base,
  id: "listErasures",
  method: "GET",
  path: "/_/api/v1/erasures",
  summary: "List Erasures",
  description:
    "Persons that were forgotten or are being forgotten, newest first: what was done, not who they were.",
  query: z.object({ cursor: CursorInput.optional() }),
  response: z.strictObject({ erasures: z.array(Erasure), cursor: NextCursor }),
  errors: ["invalid_input", "invalid_cursor", "forbidden"],
});

export const getErasure = operation({
  ...base,
  id: "getErasure",
  method: "GET",
  path: "/_/api/v1/erasures/:erasure_id",
  summary: "Get Erasure",
  description: "How far an erasure is, and what it removed.",
  params: z.object({ erasure_id: Uuid }),
  response: Erasure,
  errors: ["forbidden", "not_found"],
});
