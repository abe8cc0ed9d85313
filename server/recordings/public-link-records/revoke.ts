import { type AuditActor, recordAudit } from "../../platform/audit/record.ts";
import type { Tx } from "../../platform/db/database.ts";
import { deleteLinks, type LinkValues, type Subject } from "./queries.ts";

/** Revokes all links of a subject that is unpublished or about to be deleted, with an audit log entry for each. */
export async function revokeLinks(tx: Tx, actor: AuditActor, subject: Subject): Promise<void> {
  for (const id of await deleteLinks(tx, subject))
    await recordAudit(tx, actor, auditOf("public_link_revoked", subject, id));
}

/** The audit log entry for a link. */
export function auditOf(
  action: "public_link_created" | "public_link_changed" | "public_link_revoked",
  subject: Subject,
  linkId: string,
  values?: LinkValues,
) {
  return {
    action,
    subject: { type: subject.kind, id: subject.id },
    details: {
      link_id: linkId,
      ...(values === undefined
        ? {}
        : {
            expires_datetime: values.expires_at?.toISOString() ?? null,
            has_password: values.password_hash !== null,
            allow_download: values.allow_download,
            include_summary: values.include_summary,
          }),
    },
  } as const;
}
