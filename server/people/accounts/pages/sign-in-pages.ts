import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { defaultProviderId } from "../../../../contract/default-provider.ts";
import { originOf, recordAudit } from "../../../platform/audit/record.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database } from "../../../platform/db/database.ts";
import { html } from "../../../platform/html.ts";
import { registerScope } from "../../../platform/http/scope.ts";
import type { I18n, Localized } from "../../../platform/language/i18n.ts";
import { i18nOf } from "../../../platform/language/request-language.ts";
import { sendPage } from "../../../platform/pages/page.ts";
import { userCard } from "../../../platform/pages/user-card.ts";
import { readRuledSession } from "../sign-in/authenticate.ts";
import { clearSessionCookie, sessionCookieOf, setSessionCookie } from "../sign-in/session-cookie.ts";
import { endOwnSession, endSessionOf } from "../sign-in/sessions.ts";
import { actorFor, finishSignIn, signIn } from "../sign-in/sign-in.ts";
import { RefusedSignIn } from "../sign-in/sign-in-rules.ts";
import { askForCode, forgetStartedSignIn, startedSignIn } from "./code-step.ts";
import { ownPath } from "./next.ts";
import { checkForm, errorNotice, field, hiddenToken, seeOther, servePages } from "./page-parts.ts";
import { passkeyScript, passkeyScriptPath, passkeyTexts } from "./passkey-script.ts";
import { asksForSingleSignOn } from "./single-sign-on-only.ts";
import { describeError, waitText, wrongPassword } from "./texts.ts";

interface Dependencies {
  readonly db: Database;
  readonly encryptor: Encryptor;
  readonly config: Pick<Config, "baseUrl" | "signInProviders">;
}

interface SignInForm {
  readonly next: string;
  readonly email?: string;
  /** Whether the user chose the form for passwords although single sign-on is required. */
  readonly withPassword?: boolean;
  readonly status?: number;
  readonly problem?: Localized;
}

/** The sign-in and sign-out pages. They work without JavaScript. */
export async function signInPages(app: FastifyInstance, deps: Dependencies): Promise<void> {
  const { db, encryptor, config } = deps;
  const { baseUrl } = config;
  await registerScope(app, async (scope) => {
    servePages(scope);

    scope.get(passkeyScriptPath, async (_request, reply) =>
      reply.type("text/javascript; charset=utf-8").header("cache-control", "no-cache").send(passkeyScript),
    );

    scope.get("/sign-in", async (request, reply) => {
      const next = ownPath((request.query as { next?: unknown }).next);
      const session = await readRuledSession(db.pool, request, baseUrl);
      if (session !== null) return sendSignedIn(request, reply, session.principal, next);
      const { with: way } = request.query as { with?: unknown };
      return sendSignIn(request, reply, { next, withPassword: way === "password" });
    });

    scope.post("/sign-in", async (request, reply) => {
      await checkForm(db.pool, request, baseUrl);
      const next = ownPath(field(request, "next"));
      const email = field(request, "email");
      const withPassword = field(request, "with") === "password";
      if (!withPassword && (await isSingleSignOnOnly(email)))
        return sendSignIn(request, reply, { next, email });
      const result = await signIn(deps, request, { email, password: field(request, "password") }).catch(
        (error: unknown) => {
          if (error instanceof RefusedSignIn && error.rule === "single_sign_on") return error;
          throw error;
        },
      );
      if (result instanceof RefusedSignIn)
        return sendSingleSignOn(request, reply, { next, status: 403, problem: describeError(result).text });
      if (result.outcome === "signed_in") {
        await endSessionOf(db, sessionCookieOf(request, baseUrl));
        setSessionCookie(reply, baseUrl, result.cookie);
        return seeOther(reply, next);
      }
      if (result.outcome === "code_required")
        return askForCode(reply, { encryptor, baseUrl }, result.started, next);
      if (result.outcome !== "wait")
        return sendSignIn(request, reply, {
          next,
          email,
          withPassword,
          status: 401,
          problem: wrongPassword,
        });
      reply.header("retry-after", String(result.retryAfterSec));
      return sendSignIn(request, reply, {
        next,
        email,
        withPassword,
        status: 429,
        problem: waitText(result.retryAfterSec),
      });
    });

    scope.get("/sign-in/code", async (request, reply) =>
      startedSignIn(request, { encryptor, baseUrl }) === null
        ? seeOther(reply, "/sign-in")
        : sendCodeForm(request, reply, {}),
    );

    scope.post("/sign-in/code", async (request, reply) => {
      await checkForm(db.pool, request, baseUrl);
      const started = startedSignIn(request, { encryptor, baseUrl });
      if (started === null)
        return sendSignIn(request, reply, {
          next: "/",
          status: 401,
          problem: (i18n) => i18n.t("It took more than ten minutes to enter the code. Sign in again."),
        });
      const result = await finishSignIn(deps, request, started, field(request, "code"));
      if (result.outcome === "signed_in") {
        await endSessionOf(db, sessionCookieOf(request, baseUrl));
        forgetStartedSignIn(reply, baseUrl);
        setSessionCookie(reply, baseUrl, result.cookie);
        return seeOther(reply, ownPath(started.next));
      }
      if (result.outcome === "wait") {
        reply.header("retry-after", String(result.retryAfterSec));
        return sendCodeForm(request, reply, { status: 429, problem: waitText(result.retryAfterSec) });
      }
      if (result.outcome === "code_refused")
        return sendCodeForm(request, reply, {
          status: 401,
          problem: (i18n) =>
            i18n.t("The code is wrong or was already used. Enter the code that the app shows now."),
        });
      forgetStartedSignIn(reply, baseUrl);
      return sendSignIn(request, reply, {
        next: ownPath(started.next),
        status: 401,
        problem: (i18n) => i18n.t("The account was changed meanwhile. Sign in again."),
      });
    });

    scope.get("/sign-out", async (request, reply) => {
      const session = await readRuledSession(db.pool, request, baseUrl);
      if (session === null) return seeOther(reply, "/sign-in");
      return sendSignedIn(request, reply, session.principal, "/");
    });

    scope.post("/sign-out", async (request, reply) => {
      const session = await checkForm(db.pool, request, baseUrl);
      if (session !== null)
        await db.kysely.transaction().execute(async (tx) => {
          if (!(await endOwnSession(tx, session.userId, session.tokenId))) return;
          await recordAudit(
            tx,
            {
              ...actorFor({
                id: session.userId,
                workspace_id: session.workspaceId,
                email_key: session.emailKey,
              }),
              ...originOf(request),
              credential: "session",
              credentialId: session.tokenId,
            },
            { action: "signed_out" },
          );
        });
      clearSessionCookie(reply, baseUrl);
      return seeOther(reply, "/sign-in");
    });
  });

  /** Whether the page offers providers alone. Without any, a password is the only way to mend that. */
  async function isSingleSignOnOnly(email: string): Promise<boolean> {
    return config.signInProviders.length > 0 && (await asksForSingleSignOn(db.kysely, email));
  }

  async function sendSignIn(request: FastifyRequest, reply: FastifyReply, form: SignInForm) {
    const { email = "", withPassword = false } = form;
    if (!withPassword && (await isSingleSignOnOnly(email))) return sendSingleSignOn(request, reply, form);
    const i18n = await i18nOf(request);
    const { signInProviders } = config;
    const or = html`<p class="or">${i18n.t("or")}</p>`;
    const query = form.next === "/" ? "" : `?next=${encodeURIComponent(form.next)}`;
    return sendPage(reply, {
      i18n,
      title: i18n.t("Sign in"),
      script: passkeyScriptPath,
      status: form.status ?? 200,
      body: html`<h1>${i18n.t("Sign in")}</h1>
${errorNotice(form.problem?.(i18n) ?? null)}
<form method="post" action="/sign-in" data-passkeys>
${hiddenToken(request, baseUrl)}
<input type="hidden" name="next" value="${form.next}">
${withPassword ? html`<input type="hidden" name="with" value="password">` : html``}
<label>${i18n.t("Email")} <input name="email" type="email" autocomplete="username webauthn" required maxlength="320" value="${email}"${email === "" ? autofocus : null}></label>
<label>${i18n.t("Password")} <input name="password" type="password" autocomplete="current-password" required maxlength="1000"${email === "" ? null : autofocus}></label>
<button>${i18n.t("Sign in")}</button>
</form>
${
  signInProviders.length === 0
    ? html``
    : html`${or}
${providerLinks(i18n, form.next, "quiet")}`
}
<p class="notice bad" role="alert" data-passkey-problem data-texts="${JSON.stringify(passkeyTexts(i18n))}" hidden></p>
<div data-passkey-part hidden>
${signInProviders.length === 0 ? or : html``}
<p><button type="button" class="quiet" data-passkey>${i18n.t("Sign in with a passkey")}</button></p>
</div>
<p class="small"><a href="/password-reset${query}">${i18n.t("Forgot your password?")}</a></p>`,
    });
  }

  /** The page where single sign-on is required, with a way in for the break-glass admin. */
  async function sendSingleSignOn(request: FastifyRequest, reply: FastifyReply, form: SignInForm) {
    const i18n = await i18nOf(request);
    const query = new URLSearchParams({
      with: "password",
      ...(form.next === "/" ? {} : { next: form.next }),
    });
    return sendPage(reply, {
      i18n,
      title: i18n.t("Sign in"),
      status: form.status ?? 200,
      body: html`<h1>${i18n.t("Sign in")}</h1>
${
  form.problem === undefined
    ? html`<p class="soft">${i18n.t("Your workspace uses single sign-on.")}</p>`
    : errorNotice(form.problem(i18n))
}
${providerLinks(i18n, form.next, "")}
<p class="small"><a href="/sign-in?${query.toString()}">${i18n.t("Emergency access with a password")}</a></p>`,
    });
  }

  /** Links, not forms: the CSP's form-action forbids forms that redirect to another origin. */
  function providerLinks(i18n: I18n, next: string, look: "quiet" | "") {
    return config.signInProviders.map(
      ({ id, name }) =>
        html`<p><a class="${`button ${look}`.trim()}" href="${startPath(id, next)}">${i18n.t("Sign in with {name}", { name })}</a></p>`,
    );
  }

  async function sendCodeForm(
    request: FastifyRequest,
    reply: FastifyReply,
    form: { status?: number; problem?: Localized },
  ): Promise<FastifyReply> {
    const i18n = await i18nOf(request);
    return sendPage(reply, {
      i18n,
      title: i18n.t("Enter your code"),
      status: form.status ?? 200,
      body: html`<h1>${i18n.t("Enter your code")}</h1>
<p class="soft" id="hint">${i18n.t("Open your authenticator app and enter the six digits it shows for Parley. If you don't have it at hand, enter one of your recovery codes.")}</p>
${errorNotice(form.problem?.(i18n) ?? null)}
<form method="post" action="/sign-in/code">
${hiddenToken(request, baseUrl)}
<label>${i18n.t("Code")} <input name="code" autocomplete="one-time-code" autocapitalize="off" spellcheck="false" required maxlength="100" aria-describedby="hint"${autofocus}></label>
<button>${i18n.t("Sign in")}</button>
</form>
<p class="small">${i18n.t("Lost both? An admin of your workspace can reset your two-factor authentication.")}</p>
<p class="small"><a href="/sign-in">${i18n.t("Back to sign-in")}</a></p>`,
    });
  }

  async function sendSignedIn(
    request: FastifyRequest,
    reply: FastifyReply,
    { name, language }: Principal,
    next: string,
  ): Promise<FastifyReply> {
    const i18n = await i18nOf(request, language);
    return sendPage(reply, {
      i18n,
      title: i18n.t("Signed in"),
      body: html`<h1>${i18n.t("You're signed in")}</h1>
${userCard(name, null)}
<form method="post" action="/sign-out">
${hiddenToken(request, baseUrl)}
<div class="actions"><a class="button" href="${next}">${i18n.t("Continue")}</a> <button class="quiet">${i18n.t("Sign out")}</button></div>
</form>`,
    });
  }
}

/** Where the sign-in at a provider begins. */
function startPath(provider: string, next: string): string {
  const query = new URLSearchParams({
    ...(provider === defaultProviderId ? {} : { provider }),
    ...(next === "/" ? {} : { next }),
  }).toString();
  return `/sign-in/sso${query === "" ? "" : `?${query}`}`;
}

/** Focuses the field to fill in next. */
const autofocus = { html: " autofocus" };
