import { z } from "zod";
import { Role } from "../accounts/account-sessions.ts";
import { Cause } from "../causes/causes.ts";
import { CursorInput, NextCursor, Timestamp, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { NamedRecording } from "./retention.ts";

const writeErrors = ["invalid_json", "invalid_input", "body_too_large", "forbidden"] as const;
const base = { tag: "Retention", gate: "every_version", permission: "admin" } as const;

const Count = z.int().min(0);

const SubjectEmail = z
  .string()
  .trim()
  .min(3)
  .max(320)
  .regex(/^[^\s@]+@[^\s@]+$/, "must be an email address");

/** A personal-data erasure and what it changed. */
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
      segments_erased: Count.meta({ description: "The person's lines in transcripts that are kept." }),
      media_kept: z.array(Uuid).meta({
        description:
          "Recordings whose media file is kept and contains the person's voice; delete them if it must go.",
      }),
      unknown_speakers: z.array(Uuid).meta({
        description: "Recordings with an unidentified speaker, who may be the person; review or delete them.",
      }),
      held: z.array(Uuid).meta({ description: "Recordings under legal hold, which were not changed." }),
      uploads_changed: Count,
      account_erased: z.boolean(),
      voice_profiles_erased: Count.meta({ description: "Voice profiles of the person." }),
      audit_entries_erased: Count,
    }),
  })
  .meta({ id: "PersonalDataErasure" });

export const erasePersonalData = operation({
  ...base,
  id: "erasePersonalData",
  method: "POST",
  path: "/_/api/v1/erasures",
  summary: "Erase Personal Data",
  description:
    "Erases all data of the person with this email: their account with its sessions, tokens, hooks and notes; their name, email, phone and words in every recording they took part in; and their email in the audit log. With `recordings: delete`, those recordings are deleted. The account is deleted immediately, the rest in the background; see Get Personal Data Erasure. This can't be undone.",
  body: z.strictObject({
    email: SubjectEmail,
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
  summary: "Preview Personal Data Erasure",
  description:
    "Shows what Erase Personal Data would find for this email and whether it would be refused. Nothing is changed.",
  body: z.strictObject({ email: SubjectEmail }),
  response: z.strictObject({
    account: z
      .strictObject({ id: Uuid, name: z.string(), role: Role })
      .nullable()
      .meta({ description: "Their account in the workspace, or null." }),
    recordings: Count.meta({ description: "Number of recordings they took part in." }),
    held: Count.meta({ description: "How many of those are under legal hold and stay unchanged." }),
    uploads: Count.meta({ description: "Uploads not yet promoted that name them." }),
    newest: z
      .array(NamedRecording)
      .meta({ description: "The newest hundred recordings that are not under legal hold, newest first." }),
    refused: z
      .string()
      .nullable()
      .meta({ description: "Why the request would be refused now; null: it would be accepted." }),
    refused_cause: Cause.nullable(),
  }),
  errors: writeErrors,
});

export const listErasures = operation({
  ...base,
  id: "listErasures",
  method: "GET",
  path: "/_/api/v1/erasures",
  summary: "List Personal Data Erasures",
  description: "Lists personal data erasures, newest first: what was erased, without the person's identity.",
  query: z.object({ cursor: CursorInput.optional() }),
  response: z.strictObject({ erasures: z.array(Erasure), cursor: NextCursor }),
  errors: ["invalid_input", "invalid_cursor", "forbidden"],
});

export const getErasure = operation({
  ...base,
  id: "getErasure",
  method: "GET",
  path: "/_/api/v1/erasures/:erasure_id",
  summary: "Get Personal Data Erasure",
  description: "Returns a personal data erasure's status and what it has erased so far.",
  params: z.object({ erasure_id: Uuid }),
  response: Erasure,
  errors: ["forbidden", "not_found"],
});
