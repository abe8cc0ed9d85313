export { type AuditAction, auditActions } from "../../../contract/governance/audit-actions.ts";
