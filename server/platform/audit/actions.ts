export { type AuditAction, auditActions } from "../../../contract/audit-actions.ts";
