import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Config } from "../../../platform/config/config.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database } from "../../../platform/db/database.ts";
import { html } from "../../../platform/html.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { sendPage } from "../../../platform/pages/page.ts";
import { findLinkOwner, type LinkOwner, type LinkPurpose } from "../one-time-links/one-time-links.ts";
import { requestPasswordReset } from "../one-time-links/password-reset.ts";
import { signInOriginOf } from "../sign-in/devices.ts";
import { passwordProblem } from "../sign-in/password-rules.ts";
import { hashPassword } from "../sign-in/passwords.ts";
import { sessionCookieOf, setSessionCookie } from "../sign-in/session-cookie.ts";
import { endSessionOf } from "../sign-in/sessions.ts";
import { acceptLink } from "../users/accept-link.ts";
import { askForCode } from "./code-step.ts";
import { checkForm, errorNotice, field, hiddenToken, seeOther, servePages } from "./page-parts.ts";

interface Dependencies {
  readonly db: Database;
  readonly encryptor: Encryptor;
  readonly jobs: JobQueue;
  readonly config: Pick<Config, "baseUrl" | "smtp">;
}

/** The pages behind one-time links, and the page that requests a password reset. */
export async function linkPages(
  app: FastifyInstance,
  { db, encryptor, jobs, config }: Dependencies,
): Promise<void> {
  const { baseUrl } = config;

  await app.register(async (scope) => {
    servePages(scope);

    for (const [path, purpose] of [
      ["/invitations/:token", "invitation"],
      ["/password-reset/:token", "password_reset"],
    ] as const) {
      scope.get(path, async (request, reply) => {
        const owner = await findLinkOwner(db, purpose, tokenOf(request));
        return owner === undefined
          ? sendInvalidLink(reply)
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
      const waitSec = await requestPasswordReset({ db, jobs }, request, email);
      if (waitSec > 0) {
        reply.header("retry-after", String(waitSec));
        return sendPage(reply, {
          title: "Too many requests",
          status: 429,
          body: html`<h1>Too many requests</h1>
<p>Try again in ${Math.ceil(waitSec / 60)} ${waitSec > 60 ? "minutes" : "minute"}.</p>
<p><a class="button quiet" href="/sign-in">Back to sign-in</a></p>`,
        });
      }
      return sendPage(reply, {
        title: "Check your email",
        body: html`<h1>Check your email</h1>
<p>If an account with this email exists, we sent it a reset link. The link expires in one hour.</p>
<p class="soft">Didn't get it? Check your spam folder, or ask an admin of your workspace for a link.</p>
<p><a class="button quiet" href="/sign-in">Back to sign-in</a></p>`,
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
    if (owner === undefined) return sendInvalidLink(reply);
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
    if (result === null) return sendInvalidLink(reply);
    await endSessionOf(db, sessionCookieOf(request, baseUrl));
    if (result.outcome === "code_required")
      return askForCode(reply, { encryptor, baseUrl }, result.started, "/");
    setSessionCookie(reply, baseUrl, result.cookie);
    return seeOther(reply, "/");
  }

  function sendResetForm(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    if (config.smtp === null)
      return sendPage(reply, {
        title: "Reset your password",
        body: html`<h1>Reset your password</h1>
<p>Email isn't set up on this server. Ask an admin of your workspace for a reset link.</p>
<p><a class="button quiet" href="/sign-in">Back to sign-in</a></p>`,
      });
    return sendPage(reply, {
      title: "Reset your password",
      body: html`<h1>Reset your password</h1>
<p class="soft">We'll email you a link to choose a new password.</p>
<form method="post" action="/password-reset">
${hiddenToken(request, baseUrl)}
<label>Email <input name="email" type="email" autocomplete="username" required maxlength="320" autofocus></label>
<button>Send reset link</button>
</form>
<p class="small"><a href="/sign-in">Back to sign-in</a></p>`,
    });
  }

  function sendPasswordForm(
    request: FastifyRequest,
    reply: FastifyReply,
    purpose: LinkPurpose,
    owner: LinkOwner,
    form: { name?: string; problem?: string },
  ): FastifyReply {
    const isInvitation = purpose === "invitation";
    const title = isInvitation ? `Welcome to ${owner.workspace_name}` : "Choose a new password";
    return sendPage(reply, {
      title,
      status: form.problem === undefined ? 200 : 400,
      body: html`<h1>${title}</h1>
<p class="soft">${isInvitation ? "Choose a password to join as" : "For the account"} ${owner.email}</p>
${errorNotice(form.problem ?? null)}
<form method="post">
${hiddenToken(request, baseUrl)}
<input type="hidden" name="email" autocomplete="username" value="${owner.email}">
${
  isInvitation
    ? html`<label>Your name <input name="name" autocomplete="name" required maxlength="200" value="${form.name ?? owner.name}"></label>`
    : html``
}
<div class="field"><label for="password">Password</label>
<p class="soft small" id="rules">At least 10 characters. A few unrelated words work best.</p>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="10" maxlength="1000" aria-describedby="rules"></div>
${
  isInvitation
    ? html``
    : html`<p class="soft small">You'll be signed out of all other browsers.</p>
<label class="check"><input type="checkbox" name="end_tokens" value="yes"> Also revoke my access tokens and connected apps</label>`
}
<button>${isInvitation ? "Join" : "Save password"}</button>
</form>`,
    });
  }
}

function tokenOf(request: FastifyRequest): string {
  return (request.params as { token: string }).token;
}

function findFormError(name: string | undefined, password: string, owner: LinkOwner): string | null {
  if (name === "") return "Enter your name.";
  if (name !== undefined && name.length > 200) return "Your name must have at most 200 characters.";
  const problem = passwordProblem(password, owner.email);
  return problem === null ? null : `The password ${problem}.`;
}

/** The same page for unknown, used and expired links. */
function sendInvalidLink(reply: FastifyReply): FastifyReply {
  return sendPage(reply, {
    title: "This link no longer works",
    status: 404,
    body: html`<h1>This link no longer works</h1>
<p>It was already used, has expired, or was replaced by a newer link. Ask an admin of your workspace for a new one.</p>
<p><a class="button quiet" href="/sign-in">Back to sign-in</a></p>`,
  });
}
