import { z } from "zod";
import { CursorInput, NextCursor, Timestamp, TimestampInput, Uuid } from "../common.ts";
import { operation } from "../operation.ts";

const Hash = z.string().regex(/^[0-9a-f]{64}$/);

/** One entry of the audit log. */
export const AuditEntry = z
  .strictObject({
    id: z.string().regex(/^\d+$/),
    position: z.int().min(1).nullable().meta({
      description: "Position in the chain; null until the entry is sealed, a few seconds later.",
    }),
    hash: Hash.nullable().meta({
      description: "SHA-256 over the previous entry's hash and this entry, in hex.",
    }),
    occurred_datetime: Timestamp,
    action: z.string().meta({ description: "What happened, such as `token_issued`." }),
    user_id: Uuid.nullable().meta({
      description:
        "The user who did it; for a workspace token, the admin who issued it. Null: not a signed-in user.",
    }),
    user_email: z
      .string()
      .nullable()
      .meta({ description: "Their email at the time; null also if it was erased." }),
    credential: z.string().nullable().meta({
      description:
        "How they authenticated: `session`, `personal_access_token`, `workspace_access_token`, `oauth`, `link` (a signed link to a file), `scim` (an identity provider), `cli`.",
    }),
    credential_id: Uuid.nullable().meta({ description: "Id of the token or session." }),
    subject_type: z.string().nullable(),
    subject_id: z.string().nullable().meta({ description: "Id of the object that was changed or accessed." }),
    ip: z.string().nullable().meta({ description: "IP address of the request." }),
    user_agent: z.string().nullable(),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "AuditEntry" });

/** An entry in List Audit Log, with the recording's current title, which is not part of the log. */
export const ListedAuditEntry = AuditEntry.extend({
  recording_title: z.string().nullable().meta({
    description: "Title of the recording concerned; null if it was deleted or the caller can't see it.",
  }),
}).meta({ id: "ListedAuditEntry" });

const filters = {
  action: z.string().max(100).optional().meta({ description: "Only this action.", example: "token_issued" }),
  user: Uuid.optional().meta({ description: "Only entries of this user." }),
  subject: z.string().max(200).optional().meta({ description: "Only entries about this object, by id." }),
  from: TimestampInput.optional().meta({ description: "Entries at this time or later." }),
  to: TimestampInput.optional().meta({ description: "Entries before this time." }),
};

export const listAudit = operation({
  id: "listAudit",
  tag: "Audit",
  gate: "every_version",
  permission: "admin",
  method: "GET",
  path: "/_/api/v1/audit",
  summary: "List Audit Log",
  description: "Lists who did what, when and from which IP address, newest first, paginated.",
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
    "Returns the log as a file in the order of the chain: CSV, or with `format=jsonl` one AuditEntry per line as `application/x-ndjson`. Entries that are not sealed yet (the last few seconds) are not included. The export is itself recorded in the log.",
  query: z.object({
    format: z.enum(["csv", "jsonl"]).optional().meta({ description: "Default: `csv`." }),
    ...filters,
  }),
  response: { contentType: "text/csv", description: "The log." },
  errors: ["invalid_input", "forbidden"],
});
