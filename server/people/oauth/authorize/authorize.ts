import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { oauthPaths } from "../../../../contract/accounts/oauth.ts";
import { type AuditActor, originOf } from "../../../platform/audit/record.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { CompatibilityDefaults, Config } from "../../../platform/config/config.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { isCrossSite } from "../../../platform/http/origin/cross-site.ts";
import type { I18n } from "../../../platform/language/i18n.ts";
import { i18nOf } from "../../../platform/language/request-language.ts";
import { type Page, sendPage } from "../../../platform/pages/page.ts";
import { askForCode } from "../../accounts/pages/code-step.ts";
import { asksForSingleSignOn } from "../../accounts/pages/single-sign-on-only.ts";
import { describeError, waitText, wrongPassword } from "../../accounts/pages/texts.ts";
import { readRuledSession, readSession } from "../../accounts/sign-in/authenticate.ts";
import { setSessionCookie } from "../../accounts/sign-in/session-cookie.ts";
import { endSession } from "../../accounts/sign-in/sessions.ts";
import { signIn } from "../../accounts/sign-in/sign-in.ts";
import { isSelfRegistered } from "../clients/queries.ts";
import { withResponse } from "../clients/redirect-uri.ts";
import type { FindApp } from "../clients/self-registered/find.ts";
import { refuseOtherMethods } from "../methods.ts";
import { allowsSelfRegistered, findWorkspaceName, grantAccess, hasGrant, refuseAccess } from "./consent.ts";
import type { FormTokens } from "./form-token.ts";
import {
  consentPage,
  crossSitePage,
  notAllowedPage,
  otherWorkspacePage,
  type Problem,
  refusedByRulePage,
  returnPage,
  signInPage,
  stopPage,
} from "./pages.ts";
import { type AuthorizeRequest, continueUrl, readAuthorizeRequest, type Target } from "./request.ts";

export interface AuthorizeDependencies {
  readonly db: Database;
  readonly encryptor: Encryptor;
  readonly config: Pick<Config, "baseUrl" | "oauthRedirectSchemes"> & CompatibilityDefaults;
  readonly formTokens: FormTokens;
  readonly findApp: FindApp;
  /** URL of the other ways to sign in, which return to `next`, a path on this server; null without any. */
  readonly otherWaysToSignIn: (next: string) => string | null;
}

/**
 * The authorization endpoint (RFC 6749, section 3.1): a page on which a user signs in and allows or denies an app. Consent
 * is asked every time, except for a confidential client that sends `prompt=none` and was authorized before.
 */
export function authorizeRoutes(scope: FastifyInstance, deps: AuthorizeDependencies): void {
  const { db, config, formTokens } = deps;

  // Web apps open this page in a window and watch it, which a stricter policy would prevent.
  scope.addHook("onRequest", (_request, reply, done) => {
    reply.header("cross-origin-opener-policy", "unsafe-none");
    done();
  });

  refuseOtherMethods(scope, oauthPaths.authorize, ["GET", "POST"]);
  scope.get(oauthPaths.authorize, { exposeHeadRoute: false }, async (request, reply) => {
    const read = await readRequest(request, reply, request.query);
    return read === null ? reply : showNext(request, reply, read);
  });

  scope.post(oauthPaths.authorize, async (request, reply) => {
    // Before the session is read, so that another site's page learns nothing about it.
    if (isCrossSite(request)) return sendPage(reply, crossSitePage(await i18nOf(request), null));
    const body = (request.body ?? {}) as Readonly<Record<string, unknown>>;
    const isDecision = body.allow !== undefined || body.deny !== undefined;
    const isSignIn = !isDecision && (body.email !== undefined || body.password !== undefined);
    // A script may post to the URL with its query, instead of copying the query into the form as the page does.
    const query = request.query as Readonly<Record<string, unknown>>;
    const read = await readRequest(request, reply, isSignIn ? { ...query, ...body } : body);
    if (read === null) return reply;
    if (isDecision) return decide(request, reply, read, body);
    if (isSignIn) return signInWith(request, reply, read, body);
    return showNext(request, reply, read);
  });

  /** @returns null when the response has been sent. */
  async function readRequest(
    request: FastifyRequest,
    reply: FastifyReply,
    sent: unknown,
  ): Promise<AuthorizeRequest | null> {
    const read = await readAuthorizeRequest(
      (clientId) => deps.findApp(clientId, request.ip),
      config,
      (sent ?? {}) as Record<string, unknown>,
    );
    if (read.kind === "valid") return read.request;
    if (read.kind === "stop") sendPage(reply, stopPage(await i18nOf(request), read.reason));
    else
      await returnError(request, reply, read.target, {
        error: read.code,
        error_description: read.description,
      });
    return null;
  }

  /** Shows the next page: sign-in, then consent. With `prompt=none` it returns to the app at once. */
  async function showNext(request: FastifyRequest, reply: FastifyReply, read: AuthorizeRequest) {
    const session = await readRuledSession(db.pool, request, config.baseUrl);
    const principal = session?.principal ?? null;
    const isSilent = read.prompts.has("none");
    if (principal === null || read.prompts.has("login") || read.prompts.has("select_account")) {
      if (isSilent) return returnError(request, reply, read, { error: "login_required" });
      return showSignIn(request, reply, read, { email: read.loginHint, problem: null });
    }
    const ruled = session?.refusal ?? null;
    const i18n = await i18nOf(request, principal.language);
    const refusal =
      ruled !== null ? refusedByRulePage(i18n, ruled) : await refusalPage(i18n, read, principal);
    if (refusal !== null) {
      if (isSilent) return returnError(request, reply, read, { error: "access_denied" });
      return sendPage(reply, refusal);
    }
    if (isSilent) {
      // Everyone can claim to be a public app, or register one.
      const mayBeSilent = !read.client.is_public && !isSelfRegistered(read.client);
      const isKnown = mayBeSilent && (await hasGrant(db.kysely, read.client.id, principal.userId));
      if (!isKnown) return returnError(request, reply, read, { error: "consent_required" });
      return grant(request, reply, read, principal);
    }
    const workspaceName = await findWorkspaceName(db.kysely, principal.workspaceId);
    const token = formTokens.issue(principal.tokenId, read);
    return sendPage(reply, consentPage(i18n, read, principal, workspaceName, token));
  }

  /** Why a user can't authorize the app, as a page; null when they can. */
  async function refusalPage(i18n: I18n, read: AuthorizeRequest, principal: Principal): Promise<Page | null> {
    if (isSelfRegistered(read.client))
      return (await allowsSelfRegistered(db.kysely, principal.workspaceId))
        ? null
        : notAllowedPage(i18n, read);
    return principal.workspaceId === read.client.workspace_id
      ? null
      : otherWorkspacePage(i18n, read, principal);
  }

  async function showSignIn(
    request: FastifyRequest,
    reply: FastifyReply,
    read: AuthorizeRequest,
    form: { email: string; problem: Problem | null },
  ) {
    const otherWays = deps.otherWaysToSignIn(continueUrl(oauthPaths.authorize, read));
    const hasPasswords = otherWays === null || !(await asksForSingleSignOn(db.kysely, form.email));
    const token = formTokens.issue(null, read);
    return sendPage(
      reply,
      signInPage(await i18nOf(request), read, { ...form, token, otherWays, hasPasswords }),
    );
  }

  async function signInWith(
    request: FastifyRequest,
    reply: FastifyReply,
    read: AuthorizeRequest,
    body: Readonly<Record<string, unknown>>,
  ) {
    const { email, password, form_token: token } = body;
    // The origin was checked above, so the token may be missing; if it is present, it must be valid.
    if (token !== undefined && !formTokens.isValid(null, read, token))
      return sendPage(reply, crossSitePage(await i18nOf(request), continueUrl(oauthPaths.authorize, read)));
    if (typeof email !== "string" || typeof password !== "string")
      return showSignIn(request, reply, read, {
        email: read.loginHint,
        problem: { text: (i18n) => i18n.t("Enter your email and password."), status: 400 },
      });
    const before = await readSession(db.pool, request, config.baseUrl);
    const result = await signIn(deps, request, { email, password }).catch((error: unknown) => {
      if (error instanceof ProblemError && error.code === "refused_by_rule") return error;
      throw error;
    });
    if (result instanceof ProblemError)
      return showSignIn(request, reply, read, {
        email,
        problem: { text: describeError(result).text, status: 403 },
      });
    if (result.outcome === "wait") {
      reply.header("retry-after", result.retryAfterSec);
      return showSignIn(request, reply, read, {
        email,
        problem: { text: waitText(result.retryAfterSec), status: 429 },
      });
    }
    if (result.outcome === "code_required")
      return askForCode(
        reply,
        { encryptor: deps.encryptor, baseUrl: config.baseUrl },
        result.started,
        continueUrl(oauthPaths.authorize, read),
      );
    if (result.outcome !== "signed_in")
      return showSignIn(request, reply, read, {
        email,
        problem: { text: wrongPassword, status: 403 },
      });
    if (before !== null) await db.kysely.transaction().execute((tx) => endSession(tx, before.tokenId));
    setSessionCookie(reply, config.baseUrl, result.cookie);
    // 303, so that reloading the next page does not send the password again (RFC 9700, section 4.12).
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
    if (!formTokens.isValid(principal.tokenId, read, body.form_token))
      return sendPage(reply, crossSitePage(await i18nOf(request), continueUrl(oauthPaths.authorize, read)));
    const i18n = await i18nOf(request, principal.language);
    const refusal = await refusalPage(i18n, read, principal);
    if (refusal !== null) return sendPage(reply, refusal);
    if (body.deny === undefined) return grant(request, reply, read, principal);
    await refuseAccess(db, actorOfUser(request, principal), read);
    return redirect(reply, read, { error: "access_denied", error_description: "the user denied access" });
  }

  async function grant(
    request: FastifyRequest,
    reply: FastifyReply,
    read: AuthorizeRequest,
    principal: Principal,
  ) {
    const caller = { principal, ip: request.ip, acceptsIssuer: request.server.acceptsIssuer };
    const code = await grantAccess(db, actorOfUser(request, principal), caller, read, config);
    if (code === null)
      return sendPage(
        reply,
        stopPage(await i18nOf(request, principal.language), (i18n) =>
          i18n.t("The app or your account was just deleted."),
        ),
      );
    return redirect(reply, read, { code });
  }

  /**
   * Returns an error that no user decided about. Anyone can register an app with their own URL, so a self-registered app
   * gets no redirect without a click: this server would be an open redirector (RFC 9700, section 4.11.2).
   */
  async function returnError(
    request: FastifyRequest,
    reply: FastifyReply,
    target: Target,
    error: { readonly error: string; readonly error_description?: string },
  ): Promise<FastifyReply> {
    if (!isSelfRegistered(target.client)) return redirect(reply, target, error);
    return sendPage(reply, returnPage(await i18nOf(request), target, responseUrl(target, error), error));
  }

  function redirect(
    reply: FastifyReply,
    target: Target,
    parameters: Readonly<Record<string, string>>,
  ): FastifyReply {
    return reply
      .code(303)
      .headers({
        location: responseUrl(target, parameters),
        "referrer-policy": "no-referrer",
        "cache-control": "no-store",
      })
      .send();
  }

  /** The client's URL with the response; `iss` identifies this server (RFC 9207). */
  function responseUrl(target: Target, parameters: Readonly<Record<string, string>>): string {
    return withResponse(target.redirectUri, { ...parameters, state: target.state, iss: config.baseUrl });
  }
}

/** The user who decides, as the audit log names them. */
function actorOfUser(request: FastifyRequest, principal: Principal): AuditActor {
  return {
    workspaceId: principal.workspaceId,
    userId: principal.userId,
    userEmail: principal.emailKey,
    credential: principal.tokenType,
    credentialId: principal.tokenId,
    ...originOf(request),
  };
}
