import { z } from "zod";
import { CursorInput, NextCursor, Success, Timestamp, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { DeletionReceipt } from "../recordings/recording-management.ts";
import { RecordingParams } from "../recordings/recordings.ts";
import { MeetingTypeScope } from "../workspace/directory.ts";

const writeErrors = ["invalid_json", "invalid_input", "body_too_large", "forbidden"] as const;

const conditions = {
  older_than_days: z
    .int()
    .min(1)
    .max(36_500)
    .meta({ description: "Recordings that started more than this many days ago are deleted." }),
  team_id: Uuid.nullable().optional().meta({ description: "Only recordings shared with this team." }),
  meeting_type_id: Uuid.nullable().optional().meta({ description: "Only recordings of this meeting type." }),
  tag: z.string().trim().min(1).max(200).nullable().optional().meta({
    description: "Only recordings with this tag, ignoring case.",
  }),
  scope: MeetingTypeScope.nullable().optional().meta({
    description: "Only internal or only external meetings.",
  }),
};

const RuleName = z.string().trim().min(1, "must not be blank").max(200);

export const NamedRecording = z.strictObject({ id: Uuid, title: z.string(), start_datetime: Timestamp });

/** A retention rule. A recording must match all its conditions. */
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
        "The rule deletes nothing before this time. Every change postpones it, so that mistakes can be noticed in time.",
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
  description: "Lists the workspace's retention rules.",
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
    "Creates a rule. From acts_from_datetime, it deletes recordings that match all conditions, each with a receipt. Recordings under legal hold are kept. Check the preview first.",
  body: z.strictObject({ name: RuleName, ...conditions, enabled: z.boolean().default(true) }),
  response: RetentionRule,
  errors: [...writeErrors, "wrong_state"],
});

export const updateRetentionRule = operation({
  ...base,
  id: "updateRetentionRule",
  method: "PATCH",
  path: "/_/api/v1/retention/rules/:rule_id",
  summary: "Update Retention Rule",
  description: "Changes a rule. Fields that are left out keep their values; null removes a condition.",
  params: RuleParams,
  body: z.strictObject({
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
  description: "Deletes a rule. It deletes no more recordings.",
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
  description: "Shows what a rule with these conditions would delete now. Nothing is deleted.",
  // A whole rule can be previewed too.
  body: z.strictObject({ ...conditions, name: RuleName.optional(), enabled: z.boolean().optional() }),
  response: z.strictObject({
    recordings: z.int().min(0).meta({ description: "Number of recordings that would be deleted." }),
    held: z.int().min(0).meta({ description: "Number of matching recordings kept by a legal hold." }),
    oldest: z.array(NamedRecording).meta({ description: "The oldest hundred of them, oldest first." }),
  }),
  errors: writeErrors,
});

export const listRetentionReceipts = operation({
  ...base,
  id: "listRetentionReceipts",
  method: "GET",
  path: "/_/api/v1/retention/receipts",
  summary: "List Retention Receipts",
  description: "Lists what retention rules have deleted, newest first.",
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
      description: "The recording; null if the caller can't see it, or could not when it was deleted.",
    }),
    purge_datetime: Timestamp.nullable().meta({
      description:
        "For a recording in the trash: when the server would delete it permanently without the hold; null: it is not in the trash.",
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
  description: "Lists recordings under legal hold.",
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
    "Prevents users and retention rules from deleting a recording until the hold is released. Admins can place a hold on any recording of the workspace, even one they can't see.",
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
  description: "Releases the legal hold. The recording can be deleted again.",
  params: RecordingParams,
  response: Success,
  errors: ["forbidden", "not_found"],
});
