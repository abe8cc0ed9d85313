import { type AuditActor, recordAudit } from "../audit/record.ts";
import type { Tx } from "../db/database.ts";
import { deleteLinks, type Subject } from "./queries.ts";
import { auditOf } from "./service.ts";

/** Takes back all links of what is to be shown no more, or is about to go, so that the audit log says of each that it ended. */
export async function takeBackLinks(tx: Tx, actor: AuditActor, subject: Subject): Promise<void> {
  for (const id of await deleteLinks(tx, subject))
    await recordAudit(tx, actor, auditOf("public_link_revoked", subject, id));
}
