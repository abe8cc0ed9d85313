import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { oauthPaths } from "../../contract/oauth.ts";
import type { Principal } from "../access/principal.ts";
import { readSession } from "../accounts/authenticate.ts";
import { setSessionCookie } from "../accounts/session-cookie.ts";
import { endSession } from "../accounts/sessions.ts";
import { signIn } from "../accounts/sign-in.ts";
import { type AuditActor, originOf } from "../audit/record.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { isForged } from "../http/forgery.ts";
import { sendPage } from "../pages/page.ts";
import { consentPage, forgeryPage, otherWorkspacePage, signInPage, stopPage } from "./authorize-pages.ts";
import {
  type AuthorizeRequest,
  continueUrl,
  readAuthorizeRequest,
  type Target,
} from "./authorize-request.ts";
import { findWorkspaceName, grantAccess, hasGrant, refuseAccess } from "./consent.ts";
import type { FormTokens } from "./form-token.ts";
import { refuseOtherMethods } from "./methods.ts";
import { withAnswer } from "./redirect-uri.ts";

export interface AuthorizeDependencies {
  readonly db: Database;
  readonly config: Pick<Config, "baseUrl">;
  readonly formTokens: FormTokens;
  /** Where people can sign in other than with a password, and come back to `next`, a path of this server. */
  readonly otherWaysToSignIn: ((next: string) => string) | null;
}

/**
 * The authorization endpoint (RFC 6749, section 3.1): a page on which a person signs in and lets an app in, or not. A
 * public client is asked about every time; so is a confidential one, unless it says `prompt=none` and has been let in.
 */
export function authorizeRoutes(scope: FastifyInstance, deps: AuthorizeDependencies): void {
  const { db, config, formTokens } = deps;

  // An app in a page opens this one in a window and waits for it: cut off from its opener it could not tell.
  scope.addHook("onRequest", (_request, reply, done) => {
    reply.header("cross-origin-opener-policy", "unsafe-none");
    done();
  });

  refuseOtherMethods(scope, oauthPaths.authorize, ["GET", "POST"]);
  scope.get(oauthPaths.authorize, { exposeHeadRoute: false }, async (request, reply) => {
    const read = await readRequest(reply, request.query);
    return read === null ? reply : showNext(request, reply, read);
  });

  scope.post(oauthPaths.authorize, async (request, reply) => {
    // Before the session is looked at, so that another site's page learns nothing of it.
    if (isForged(request)) return sendPage(reply, forgeryPage(null));
    const body = (request.body ?? {}) as Readonly<Record<string, unknown>>;
    const isDecision = body.allow !== undefined || body.deny !== undefined;
    const isSignIn = !isDecision && (body.email !== undefined || body.password !== undefined);
    // A script signs in at the address it was given, and does not copy its query into the form as the page does.
    const query = request.query as Readonly<Record<string, unknown>>;
    const read = await readRequest(reply, isSignIn ? { ...query, ...body } : body);
    if (read === null) return reply;
    if (isDecision) return decide(request, reply, read, body);
    if (isSignIn) return signInWith(request, reply, read, body);
    return showNext(request, reply, read);
  });

  /** @returns null when the answer has been given. */
  async function readRequest(reply: FastifyReply, sent: unknown): Promise<AuthorizeRequest | null> {
    const read = await readAuthorizeRequest(db.kysely, (sent ?? {}) as Record<string, unknown>);
    if (read.kind === "right") return read.request;
    if (read.kind === "stop") sendPage(reply, stopPage(read.reason));
    else answer(reply, read.target, { error: read.code, error_description: read.description });
    return null;
  }

  /** The page a request needs next: sign-in, then consent; for `prompt=none` the answer at once. */
  async function showNext(request: FastifyRequest, reply: FastifyReply, read: AuthorizeRequest) {
    const principal = await readSession(db.pool, request, config.baseUrl);
    const isSilent = read.prompts.has("none");
    if (principal === null || read.prompts.has("login") || read.prompts.has("select_account")) {
      if (isSilent) return answer(reply, read, { error: "login_required" });
      return showSignIn(reply, read, { email: read.loginHint, problem: null });
    }
    if (principal.workspaceId !== read.client.workspace_id) {
      if (isSilent) return answer(reply, read, { error: "access_denied" });
      return sendPage(reply, otherWorkspacePage(read, principal));
    }
    if (isSilent) {
      const isKnown = !read.client.is_public && (await hasGrant(db.kysely, read.client.id, principal.userId));
      if (!isKnown) return answer(reply, read, { error: "consent_required" });
      return grant(request, reply, read, principal);
    }
    const workspaceName = await findWorkspaceName(db.kysely, principal.workspaceId);
    const token = formTokens.issue(principal.tokenId, read);
    return sendPage(reply, consentPage(read, principal, workspaceName, token));
  }

  function showSignIn(
    reply: FastifyReply,
    read: AuthorizeRequest,
    form: { email: string; problem: { text: string; status: number } | null },
  ) {
    const otherWays = deps.otherWaysToSignIn?.(continueUrl(oauthPaths.authorize, read)) ?? null;
    return sendPage(reply, signInPage(read, { ...form, token: formTokens.issue(null, read), otherWays }));
  }

  async function signInWith(
    request: FastifyRequest,
    reply: FastifyReply,
    read: AuthorizeRequest,
    body: Readonly<Record<string, unknown>>,
  ) {
    const { email, password, form_token: token } = body;
    // Browsers say where a form came from, which was asked above; a token that is there has to be right all the same.
    if (token !== undefined && !formTokens.isRight(null, read, token))
      return sendPage(reply, forgeryPage(continueUrl(oauthPaths.authorize, read)));
    if (typeof email !== "string" || typeof password !== "string")
      return showSignIn(reply, read, {
        email: read.loginHint,
        problem: { text: "Email and password are both needed.", status: 400 },
      });
    const before = await readSession(db.pool, request, config.baseUrl);
    const result = await signIn(db, request, { email, password });
    if (result.outcome === "wait") {
      reply.header("retry-after", result.retryAfterSec);
      const text = `Too many attempts. Try again in ${result.retryAfterSec} s.`;
      return showSignIn(reply, read, { email, problem: { text, status: 429 } });
    }
    if (result.outcome === "refused")
      return showSignIn(reply, read, {
        email,
        problem: { text: "Email and password do not go together.", status: 403 },
      });
    if (before !== null) await db.kysely.transaction().execute((tx) => endSession(tx, before.tokenId));
    setSessionCookie(reply, config.baseUrl, result.cookie);
    // 303, so that reloading what comes next does not send the password again (RFC 9700, section 4.12).
    return reply.code(303).header("location", continueUrl(oauthPaths.authorize, read)).send();
  }

  async function decide(
    request: FastifyRequest,
    reply: FastifyReply,
    read: AuthorizeRequest,
    body: Readonly<Record<string, unknown>>,
  ) {
    const principal = await readSession(db.pool, request, config.baseUrl);
    if (principal === null) return showNext(request, reply, read);
    if (!formTokens.isRight(principal.tokenId, read, body.form_token))
      return sendPage(reply, forgeryPage(continueUrl(oauthPaths.authorize, read)));
    if (principal.workspaceId !== read.client.workspace_id)
      return sendPage(reply, otherWorkspacePage(read, principal));
    if (body.deny === undefined) return grant(request, reply, read, principal);
    await refuseAccess(db, actorOfPerson(request, principal), read);
    return answer(reply, read, { error: "access_denied", error_description: "the person said no" });
  }

  async function grant(
    request: FastifyRequest,
    reply: FastifyReply,
    read: AuthorizeRequest,
    principal: Principal,
  ) {
    const code = await grantAccess(db, actorOfPerson(request, principal), principal, read);
    if (code === null) return sendPage(reply, stopPage("The app or your account was removed just now."));
    return answer(reply, read, { code });
  }

  /** Sends the person back with the answer; `iss` tells the client which server it is from (RFC 9207). */
  function answer(reply: FastifyReply, target: Target, parameters: Record<string, string>): FastifyReply {
    const location = withAnswer(target.redirectUri, {
      ...parameters,
      state: target.state,
      iss: config.baseUrl,
    });
    return reply
      .code(303)
      .headers({ location, "referrer-policy": "no-referrer", "cache-control": "no-store" })
      .send();
  }
}

/** Who decides, as the audit log names them. */
function actorOfPerson(request: FastifyRequest, principal: Principal): AuditActor {
  return {
    workspaceId: principal.workspaceId,
    userId: principal.userId,
    userEmail: principal.emailKey,
    credential: principal.tokenType,
    credentialId: principal.tokenId,
    ...originOf(request),
  };
}
