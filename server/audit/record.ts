import type { FastifyRequest } from "fastify";
import type { Credential } from "../access/principal.ts";
import type { Tx } from "../db/database.ts";
import type { AuditAction } from "./actions.ts";

/** Who did it and from where. */
export interface AuditActor {
  readonly workspaceId: string;
  /** Null: nobody was signed in, or the server itself did it. */
  readonly userId: string | null;
  readonly userEmail: string | null;
  /** `link`: a signed link to a file, which whoever holds it may follow. */
  readonly credential: Credential | "cli" | "link" | null;
  readonly credentialId: string | null;
  readonly ip: string | null;
  readonly userAgent: string | null;
}

/** What was done. */
export interface AuditEntry {
  readonly action: AuditAction;
  readonly subject?: { readonly type: string; readonly id: string };
  /** What else tells what happened, as JSON; never a secret, and nothing of what was said in a meeting. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The caller of a checked request as the log names them. */
export function actorOf(request: FastifyRequest): AuditActor {
  const { principal } = request;
  return {
    workspaceId: principal.workspaceId,
    userId: principal.userId,
    userEmail: principal.emailKey,
    credential: principal.tokenType,
    credentialId: principal.tokenId,
    ...originOf(request),
  };
}

/** Where a request comes from; a user agent is cut to what a person reads. */
export function originOf(request: FastifyRequest): { ip: string; userAgent: string } {
  return { ip: request.ip, userAgent: (request.headers["user-agent"] ?? "").slice(0, 300) };
}

/** A command of the operator on the server's own machine. */
export function commandLine(workspaceId: string): AuditActor {
  return {
    workspaceId,
    userId: null,
    userEmail: null,
    credential: "cli",
    credentialId: null,
    ip: null,
    userAgent: null,
  };
}

/** Writes down what happened, in the transaction that makes it happen. */
export async function recordAudit(tx: Tx, actor: AuditActor, entry: AuditEntry): Promise<void> {
  await tx
    .insertInto("audit_log")
    .values({
      workspace_id: actor.workspaceId,
      user_id: actor.userId,
      user_email: actor.userEmail,
      credential: actor.credential,
      credential_id: actor.credentialId,
      ip: actor.ip,
      user_agent: actor.userAgent,
      action: entry.action,
      subject_type: entry.subject?.type ?? null,
      subject_id: entry.subject?.id ?? null,
      details: JSON.stringify(entry.details ?? {}),
    })
    .execute();
}
