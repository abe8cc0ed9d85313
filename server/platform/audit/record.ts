import type { FastifyRequest } from "fastify";
import type { Credential, Principal } from "../auth/principal.ts";
import type { Tx } from "../db/database.ts";
import type { AuditAction } from "./actions.ts";

/** Who performed an action, and from where. */
export interface AuditActor {
  readonly workspaceId: string;
  /** Null when no user was signed in, or the server itself acted. */
  readonly userId: string | null;
  readonly userEmail: string | null;
  /** `link`: a signed link to a file; `scim`: an identity provider, by a SCIM token. */
  readonly credential: Credential | "cli" | "link" | "scim" | null;
  readonly credentialId: string | null;
  readonly ip: string | null;
  readonly userAgent: string | null;
}

/** The caller of a change, with their identity for the audit log. */
export interface Requester {
  readonly principal: Principal;
  readonly actor: AuditActor;
}

/** An action to record. */
export interface AuditEntry {
  readonly action: AuditAction;
  /** The id is null for what there is one of. */
  readonly subject?: { readonly type: string; readonly id: string | null };
  /** Further details as JSON; never secrets or content of a meeting. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** What an entry of the audit log takes from a request. */
export type AuditedRequest = Pick<FastifyRequest, "ip" | "headers"> & {
  readonly principal: Pick<Principal, "tokenId" | "tokenType" | "workspaceId" | "userId" | "emailKey">;
};

/** The caller of an authenticated request, for the audit log. */
export function actorOf(request: AuditedRequest): AuditActor {
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

/** IP address and user agent of a request; long user agents are cut. */
export function originOf(request: Pick<AuditedRequest, "ip" | "headers">): { ip: string; userAgent: string } {
  return { ip: request.ip, userAgent: (request.headers["user-agent"] ?? "").slice(0, 300) };
}

/** The operator, using a command on the server's machine. */
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

/** The server itself: applying a rule, or finishing a request in a job. */
export function serverItself(workspaceId: string): AuditActor {
  return { ...commandLine(workspaceId), credential: null };
}

/** Records an action in the transaction that performs it. */
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
