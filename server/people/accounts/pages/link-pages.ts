import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Config } from "../../../platform/config/config.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database } from "../../../platform/db/database.ts";
import { html } from "../../../platform/html.ts";
import { registerScope } from "../../../platform/http/scope.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import type { Localized } from "../../../platform/language/i18n.ts";
import { i18nOf } from "../../../platform/language/request-language.ts";
import { sendPage } from "../../../platform/pages/page.ts";
import { findLinkOwner, type LinkOwner, type LinkPurpose } from "../one-time-links/one-time-links.ts";
import { requestPasswordReset } from "../one-time-links/password-reset.ts";
import { signInOriginOf } from "../sign-in/devices.ts";
import { minCharacters, passwordProblem } from "../sign-in/password-rules.ts";
import { hashPassword } from "../sign-in/passwords.ts";
import { sessionCookieOf, setSessionCookie } from "../sign-in/session-cookie.ts";
import { endSessionOf } from "../sign-in/sessions.ts";
import { acceptLink } from "../users/accept-link.ts";
import { askForCode } from "./code-step.ts";
import {
  backToSignIn,
  checkForm,
  errorNotice,
  field,
  hiddenToken,
  seeOther,
  servePages,
} from "./page-parts.ts";
import { passwordTexts } from "./texts.ts";

interface Dependencies {
  readonly db: Database;
  readonly encryptor: Encryptor;
  readonly jobs: JobQueue;
  readonly config: Pick<Config, "baseUrl" | "smtp">;
}

/** Characters of a name. */
const maxName = 200;

/** The pages behind one-time links, and the page that requests a password reset. */
export async function linkPages(
  app: FastifyInstance,
  { db, encryptor, jobs, config }: Dependencies,
): Promise<void> {
  const { baseUrl } = config;

  await registerScope(app, async (scope) => {
    servePages(scope);

    for (const [path, purpose] of [
      ["/invitations/:token", "invitation"],
      ["/password-reset/:token", "password_reset"],
    ] as const) {
      scope.get(path, async (request, reply) => {
        const owner = await findLinkOwner(db, purpose, tokenOf(request));
        return owner === undefined
          ? sendInvalidLink(request, reply)
          : sendPasswordForm(request, reply, purpose, owner, {});
      });

      scope.post(path, (request, reply) => accept(scope, request, reply, purpose));
    }

    scope.get("/password-reset", async (request, reply) => sendResetForm(request, reply));

    scope.post("/password-reset", async (request, reply) => {
      await checkForm(db.pool, request, baseUrl);
      if (config.smtp === null) return sendResetForm(request, reply);
      const email = field(request, "email");
      if (email.trim() === "") return sendResetForm(request, reply);
      const i18n = await i18nOf(request);
      const waitSec = await requestPasswordReset({ db, jobs }, request, email);
      if (waitSec > 0) {
        reply.header("retry-after", String(waitSec));
        return sendPage(reply, {
          i18n,
          title: i18n.t("Too many requests"),
          status: 429,
          body: html`<h1>${i18n.t("Too many requests")}</h1>
<p>${i18n.t("Try again in {minutes, plural, one {# minute} other {# minutes}}.", { minutes: Math.ceil(waitSec / 60) })}</p>
${backToSignIn(i18n)}`,
        });
      }
      return sendPage(reply, {
        i18n,
        title: i18n.t("Check your email"),
        body: html`<h1>${i18n.t("Check your email")}</h1>
<p>${i18n.t("If an account with this email exists, we sent it a reset link. The link expires in one hour.")}</p>
<p class="soft">${i18n.t("Didn't get it? Check your spam folder, or ask an admin of your workspace for a link.")}</p>
${backToSignIn(i18n)}`,
      });
    });
  });

  /** Takes the form of an invitation or a password reset; the user is signed in then. */
  async function accept(
    scope: FastifyInstance,
    request: FastifyRequest,
    reply: FastifyReply,
    purpose: LinkPurpose,
  ): Promise<FastifyReply> {
    await checkForm(db.pool, request, baseUrl);
    const token = tokenOf(request);
    const owner = await findLinkOwner(db, purpose, token);
    if (owner === undefined) return sendInvalidLink(request, reply);
    const name = purpose === "invitation" ? field(request, "name").trim() : undefined;
    const password = field(request, "password");
    const problem = findFormError(name, password, owner);
    if (problem !== null)
      return sendPasswordForm(request, reply, purpose, owner, {
        problem,
        ...(name === undefined ? {} : { name }),
      });
    const passwordHash = await scope.passwordWork.run((cost) => hashPassword(password, cost));
    const result = await acceptLink(db, {
      purpose,
      token,
      owner,
      passwordHash,
      ...(name === undefined ? {} : { name }),
      endsTokens: purpose === "password_reset" && field(request, "end_tokens") !== "",
      from: signInOriginOf(request),
    });
    if (result === null) return sendInvalidLink(request, reply);
    await endSessionOf(db, sessionCookieOf(request, baseUrl));
    if (result.outcome === "code_required")
      return askForCode(reply, { encryptor, baseUrl }, result.started, "/");
    setSessionCookie(reply, baseUrl, result.cookie);
    return seeOther(reply, "/");
  }

  async function sendResetForm(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const i18n = await i18nOf(request);
    if (config.smtp === null)
      return sendPage(reply, {
        i18n,
        title: i18n.t("Reset your password"),
        body: html`<h1>${i18n.t("Reset your password")}</h1>
<p>${i18n.t("Email isn't set up on this server. Ask an admin of your workspace for a reset link.")}</p>
${backToSignIn(i18n)}`,
      });
    return sendPage(reply, {
      i18n,
      title: i18n.t("Reset your password"),
      body: html`<h1>${i18n.t("Reset your password")}</h1>
<p class="soft">${i18n.t("We'll email you a link to choose a new password.")}</p>
<form method="post" action="/password-reset">
${hiddenToken(request, baseUrl)}
<label>${i18n.t("Email")} <input name="email" type="email" autocomplete="username" required maxlength="320" autofocus></label>
<button>${i18n.t("Send reset link")}</button>
</form>
<p class="small"><a href="/sign-in">${i18n.t("Back to sign-in")}</a></p>`,
    });
  }

  async function sendPasswordForm(
    request: FastifyRequest,
    reply: FastifyReply,
    purpose: LinkPurpose,
    owner: LinkOwner,
    form: { name?: string; problem?: Localized },
  ): Promise<FastifyReply> {
    const i18n = await i18nOf(request);
    const isInvitation = purpose === "invitation";
    const { email } = owner;
    const title = isInvitation
      ? i18n.t("Welcome to {workspace}", { workspace: owner.workspace_name })
      : i18n.t("Choose a new password");
    return sendPage(reply, {
      i18n,
      title,
      status: form.problem === undefined ? 200 : 400,
      body: html`<h1>${title}</h1>
<p class="soft">${isInvitation ? i18n.t("Choose a password to join as {email}", { email }) : i18n.t("For the account {email}", { email })}</p>
${errorNotice(form.problem?.(i18n) ?? null)}
<form method="post">
${hiddenToken(request, baseUrl)}
<input type="hidden" name="email" autocomplete="username" value="${email}">
${
  isInvitation
    ? html`<label>${i18n.t("Your name")} <input name="name" autocomplete="name" required maxlength="${maxName}" value="${form.name ?? owner.name}"></label>`
    : html``
}
<div class="field"><label for="password">${i18n.t("Password")}</label>
<p class="soft small" id="rules">${i18n.t("At least {count, plural, one {# character} other {# characters}}. A few unrelated words work best.", { count: minCharacters })}</p>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="${minCharacters}" maxlength="1000" aria-describedby="rules"></div>
${
  isInvitation
    ? html``
    : html`<p class="soft small">${i18n.t("You'll be signed out of all other browsers.")}</p>
<label class="check"><input type="checkbox" name="end_tokens" value="yes"> ${i18n.t("Also revoke my access tokens and connected apps")}</label>`
}
<button>${isInvitation ? i18n.t("Join") : i18n.t("Save password")}</button>
</form>`,
    });
  }
}

function tokenOf(request: FastifyRequest): string {
  return (request.params as { token: string }).token;
}

function findFormError(name: string | undefined, password: string, owner: LinkOwner): Localized | null {
  if (name === "") return (i18n) => i18n.t("Enter your name.");
  if (name !== undefined && name.length > maxName)
    return (i18n) =>
      i18n.t("Your name must have at most {count, plural, one {# character} other {# characters}}.", {
        count: maxName,
      });
  const problem = passwordProblem(password, owner.email);
  return problem === null ? null : passwordTexts[problem];
}

/** The same page for unknown, used and expired links. */
async function sendInvalidLink(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const i18n = await i18nOf(request);
  return sendPage(reply, {
    i18n,
    title: i18n.t("This link no longer works"),
    status: 404,
    body: html`<h1>${i18n.t("This link no longer works")}</h1>
<p>${i18n.t("It was already used, has expired, or was replaced by a newer link. Ask an admin of your workspace for a new one.")}</p>
${backToSignIn(i18n)}`,
  });
}
