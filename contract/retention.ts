import { z } from "zod";
import { CursorInput, NextCursor, Success, Timestamp, Uuid } from "./common.ts";
import { MeetingTypeScope } from "./directory.ts";
import { operation } from "./operation.ts";
import { DeletionReceipt } from "./recording-management.ts";
import { RecordingParams } from "./recordings.ts";

const writeErrors = ["invalid_json", "invalid_input", "body_too_large", "forbidden"] as const;

const conditions = {
  older_than_days: z
    .int()
    .min(1)
    .max(36_500)
    .meta({ description: "Recordings that began longer ago than this are deleted." }),
  team_id: Uuid.nullable().optional().meta({ description: "Only recordings shared with this team." }),
  meeting_type_id: Uuid.nullable().optional().meta({ description: "Only recordings of this meeting type." }),
  tag: z.string().trim().min(1).max(200).nullable().optional().meta({
    description: "Only recordings with this tag, whatever its case.",
  }),
  scope: MeetingTypeScope.nullable().optional().meta({
    description: "Only internal meetings, or only those with somebody from outside.",
  }),
};

const RuleName = z.string().trim().min(1, "must not be blank").max(200);

export const NamedRecording = z.strictObject({ id: Uuid, title: z.string(), start_datetime: Timestamp });

/** A rule: every condition it names must fit. */
export const RetentionRule = z
  .strictObject({
    id: Uuid,
    name: z.string(),
    older_than_days: z.int(),
    team_id: Uuid.nullable(),
    meeting_type_id: Uuid.nullable(),
    tag: z.string().nullable(),
    scope: MeetingTypeScope.nullable(),
    enabled: z.boolean(),
    acts_from_datetime: Timestamp.meta({
      description:
        "It deletes nothing before; every change puts this off again, so that a mistake can be seen in time.",
    }),
    created_datetime: Timestamp,
  })
  .meta({ id: "RetentionRule" });

const base = { tag: "Retention", gate: "every_version", permission: "admin" } as const;
const RuleParams = z.object({ rule_id: Uuid });

export const listRetentionRules = operation({
  ...base,
  id: "listRetentionRules",
  method: "GET",
  path: "/_/api/v1/retention/rules",
  summary: "List Retention Rules",
  description: "The rules by which recordings of the workspace are deleted.",
  response: z.strictObject({ rules: z.array(RetentionRule) }),
  errors: ["forbidden"],
});

export const createRetentionRule = operation({
  ...base,
  id: "createRetentionRule",
  method: "POST",
  path: "/_/api/v1/retention/rules",
  summary: "Create Retention Rule",
  description:
    "From acts_from_datetime on, recordings that fit all conditions are deleted as if by hand, each with a receipt. Recordings under legal hold are kept. Look at the preview first.",
  body: z.object({ name: RuleName, ...conditions, enabled: z.boolean().default(true) }),
  response: RetentionRule,
  errors: [...writeErrors, "wrong_state"],
});

export const updateRetentionRule = operation({
  ...base,
  id: "updateRetentionRule",
  method: "PATCH",
  path: "/_/api/v1/retention/rules/:rule_id",
  summary: "Update Retention Rule",
  description: "Changes what is given and keeps the rest; null takes a condition away.",
  params: RuleParams,
  body: z.object({
    name: RuleName.optional(),
    ...conditions,
    older_than_days: conditions.older_than_days.optional(),
    enabled: z.boolean().optional(),
  }),
  response: RetentionRule,
  errors: [...writeErrors, "not_found"],
});

export const deleteRetentionRule = operation({
  ...base,
  id: "deleteRetentionRule",
  method: "DELETE",
  path: "/_/api/v1/retention/rules/:rule_id",
  summary: "Delete Retention Rule",
  description: "The rule deletes nothing any more.",
  params: RuleParams,
  response: Success,
  errors: ["forbidden", "not_found"],
});

export const previewRetention = operation({
  ...base,
  id: "previewRetention",
  method: "POST",
  path: "/_/api/v1/retention/preview",
  summary: "Preview Retention",
  description: "What a rule with these conditions would delete now. Nothing is deleted.",
  body: z.object(conditions),
  response: z.strictObject({
    recordings: z.int().min(0).meta({ description: "How many would be deleted." }),
    held: z.int().min(0).meta({ description: "How many fit and are kept by a legal hold." }),
    oldest: z.array(NamedRecording).meta({ description: "The first hundred of them, oldest first." }),
  }),
  errors: writeErrors,
});

export const listRetentionReceipts = operation({
  ...base,
  id: "listRetentionReceipts",
  method: "GET",
  path: "/_/api/v1/retention/receipts",
  summary: "List Retention Receipts",
  description: "What rules have deleted, newest first.",
  query: z.object({ cursor: CursorInput.optional() }),
  response: z.strictObject({
    receipts: z.array(
      z.strictObject({
        recording_id: Uuid,
        rule_id: Uuid,
        rule_name: z.string(),
        deleted_datetime: Timestamp,
        receipt: DeletionReceipt,
      }),
    ),
    cursor: NextCursor,
  }),
  errors: ["invalid_input", "invalid_cursor", "forbidden"],
});

export const LegalHold = z
  .strictObject({
    recording_id: Uuid,
    recording: NamedRecording.nullable().meta({
      description: "What is held; null for who can't see it: a hold keeps, and shows nothing.",
    }),
    reason: z.string(),
    placed_by: Uuid,
    placed_datetime: Timestamp,
  })
  .meta({ id: "LegalHold" });

export const listLegalHolds = operation({
  ...base,
  id: "listLegalHolds",
  method: "GET",
  path: "/_/api/v1/legal-holds",
  summary: "List Legal Holds",
  description: "Recordings that nobody and no rule may delete.",
  response: z.strictObject({ legal_holds: z.array(LegalHold) }),
  errors: ["forbidden"],
});

export const placeLegalHold = operation({
  ...base,
  id: "placeLegalHold",
  method: "PUT",
  path: "/_/api/v1/recordings/:recording_id/legal-hold",
  summary: "Place Legal Hold",
  description:
    "Nobody and no rule may delete the recording until the hold is released. An admin places it on any recording of the workspace, seen or not.",
  params: RecordingParams,
  body: z.object({ reason: z.string().trim().min(1, "must not be blank").max(1000) }),
  response: LegalHold,
  errors: [...writeErrors, "not_found"],
});

export const releaseLegalHold = operation({
  ...base,
  id: "releaseLegalHold",
  method: "DELETE",
  path: "/_/api/v1/recordings/:recording_id/legal-hold",
  summary: "Release Legal Hold",
  description: "The recording may be deleted again.",
  params: RecordingParams,
  response: Success,
  errors: ["forbidden", "not_found"],
});
