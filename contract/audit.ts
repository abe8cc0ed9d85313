import { z } from "zod";
import { CursorInput, NextCursor, Timestamp, TimestampInput, Uuid } from "./common.ts";
import { operation } from "./operation.ts";

const Hash = z.string().regex(/^[0-9a-f]{64}$/);

/** One entry of the audit log. */
export const AuditEntry = z
  .strictObject({
    id: z.string().regex(/^\d+$/),
    position: z.int().min(1).nullable().meta({
      description: "Its place in the chain; null for the moment until it is sealed.",
    }),
    hash: Hash.nullable().meta({ description: "SHA-256 over the entry before it and this one, in hex." }),
    occurred_datetime: Timestamp,
    action: z.string().meta({ description: "What happened, such as `token_issued`." }),
    user_id: Uuid.nullable().meta({
      description: "Who did it; for a workspace token who issued it. Null: nobody who was signed in.",
    }),
    user_email: z
      .string()
      .nullable()
      .meta({ description: "Their email at the time; null also when it was erased." }),
    credential: z.string().nullable().meta({
      description:
        "How they showed who they are: `session`, `personal_access_token`, `workspace_access_token`, `oauth`, `link` (a signed link to a file), `cli`.",
    }),
    credential_id: Uuid.nullable().meta({ description: "Which token or session." }),
    subject_type: z.string().nullable(),
    subject_id: z.string().nullable().meta({ description: "What it was done to." }),
    ip: z.string().nullable().meta({ description: "From where." }),
    user_agent: z.string().nullable(),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "AuditEntry" });

/** An entry as the list has it; what a recording is called now is no part of the log itself. */
export const ListedAuditEntry = AuditEntry.extend({
  recording_title: z.string().nullable().meta({
    description: "Of the recording it was done to, while that is there and the caller sees it.",
  }),
}).meta({ id: "ListedAuditEntry" });

const filters = {
  action: z.string().max(100).optional().meta({ description: "Only this action.", example: "token_issued" }),
  user: Uuid.optional().meta({ description: "Only what this user did." }),
  subject: z.string().max(200).optional().meta({ description: "Only what was done to this, by its id." }),
  from: TimestampInput.optional().meta({ description: "Not before this moment." }),
  to: TimestampInput.optional().meta({ description: "Before this moment." }),
};

export const listAudit = operation({
  id: "listAudit",
  tag: "Audit",
  gate: "every_version",
  permission: "admin",
  method: "GET",
  path: "/_/api/v1/audit",
  summary: "List Audit Log",
  description: "Who did what, when and from where: newest first, a page at a time.",
  query: z.object({ cursor: CursorInput.optional(), ...filters }),
  response: z.strictObject({ entries: z.array(ListedAuditEntry), cursor: NextCursor }),
  errors: ["invalid_input", "invalid_cursor", "forbidden"],
});

export const exportAudit = operation({
  id: "exportAudit",
  tag: "Audit",
  gate: "every_version",
  permission: "admin",
  method: "GET",
  path: "/_/api/v1/audit/export",
  summary: "Export Audit Log",
  description:
    "The log as a file, in the order of the chain: CSV, or with `format=jsonl` one AuditEntry a line as `application/x-ndjson`. Entries of the last seconds, which are not sealed yet, are not in it. The export is an entry of the log itself.",
  query: z.object({
    format: z.enum(["csv", "jsonl"]).optional().meta({ description: "`csv` when left out." }),
    ...filters,
  }),
  response: { contentType: "text/csv", description: "The log." },
  errors: ["invalid_input", "forbidden"],
});
