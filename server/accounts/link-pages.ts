import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { originOf } from "../audit/record.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import type { JobQueue } from "../jobs/queue.ts";
import { html } from "../pages/html.ts";
import { sendPage } from "../pages/page.ts";
import { acceptLink } from "./accept-link.ts";
import { findLinkOwner, type LinkOwner, type LinkPurpose } from "./one-time-links.ts";
import { checkForm, fault, field, hiddenToken, seeOther, servePages } from "./page-parts.ts";
import { requestPasswordReset } from "./password-reset.ts";
import { passwordFault } from "./password-rules.ts";
import { hashPassword } from "./passwords.ts";
import { sessionCookieOf, setSessionCookie } from "./session-cookie.ts";
import { endSessionOf } from "./sessions.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly config: Pick<Config, "baseUrl" | "smtp">;
}

/** The pages behind one-time links, and the one that asks for such a link. */
export async function linkPages(app: FastifyInstance, { db, jobs, config }: Dependencies): Promise<void> {
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
          ? sendDeadLink(reply)
          : sendPasswordForm(request, reply, purpose, owner, {});
      });

      scope.post(path, async (request, reply) => {
        await checkForm(db.pool, request, baseUrl);
        const token = tokenOf(request);
        const owner = await findLinkOwner(db, purpose, token);
        if (owner === undefined) return sendDeadLink(reply);
        const name = purpose === "invitation" ? field(request, "name").trim() : undefined;
        const password = field(request, "password");
        const problem = findFault(name, password, owner);
        if (problem !== null)
          return sendPasswordForm(request, reply, purpose, owner, {
            problem,
            ...(name === undefined ? {} : { name }),
          });
        const passwordHash = await scope.passwordWork.run(() => hashPassword(password));
        const cookie = await acceptLink(db, {
          purpose,
          token,
          owner,
          passwordHash,
          ...(name === undefined ? {} : { name }),
          from: originOf(request),
        });
        if (cookie === null) return sendDeadLink(reply);
        await endSessionOf(db, sessionCookieOf(request, baseUrl));
        setSessionCookie(reply, baseUrl, cookie);
        return seeOther(reply, "/");
      });
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
        title: "Check your mail",
        body: html`<h1>Check your mail</h1>
<p>If there is an account with this address, a mail with a link is on its way. The link is good for an hour.</p>
<p class="soft">Nothing came? Look among the spam, or ask an admin of your workspace for a link.</p>
<p><a class="button quiet" href="/sign-in">Back to sign-in</a></p>`,
      });
    });
  });

  function sendResetForm(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    if (config.smtp === null)
      return sendPage(reply, {
        title: "New password",
        body: html`<h1>New password</h1>
<p>This server sends no mail. Ask an admin of your workspace: they can give you a link to choose a new password.</p>
<p><a class="button quiet" href="/sign-in">Back to sign-in</a></p>`,
      });
    return sendPage(reply, {
      title: "New password",
      body: html`<h1>New password</h1>
<p class="soft">You get a link by mail, and choose a new one there.</p>
<form method="post" action="/password-reset">
${hiddenToken(request, baseUrl)}
<label>Email <input name="email" type="email" autocomplete="username" required maxlength="320" autofocus></label>
<button>Send the link</button>
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
<p class="soft">${isInvitation ? "Choose a password, and you are in. Your account:" : "For the account"} ${owner.email}</p>
${fault(form.problem ?? null)}
<form method="post">
${hiddenToken(request, baseUrl)}
<input type="hidden" name="email" autocomplete="username" value="${owner.email}">
${
  isInvitation
    ? html`<label>Your name <input name="name" autocomplete="name" required maxlength="200" value="${form.name ?? owner.name}"></label>`
    : html``
}
<div class="field"><label for="password">Password</label>
<p class="soft small" id="rules">At least 10 characters. A few words that only you would put together are best.</p>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="10" maxlength="1000" aria-describedby="rules"></div>
<button>${isInvitation ? "Join" : "Save"}</button>
</form>`,
    });
  }
}

function tokenOf(request: FastifyRequest): string {
  return (request.params as { token: string }).token;
}

function findFault(name: string | undefined, password: string, owner: LinkOwner): string | null {
  if (name === "") return "Please say what your name is.";
  if (name !== undefined && name.length > 200) return "The name must have at most 200 characters.";
  const wrong = passwordFault(password, owner.email);
  return wrong === null ? null : `The password ${wrong}.`;
}

/** One text for unknown, used and expired. */
function sendDeadLink(reply: FastifyReply): FastifyReply {
  return sendPage(reply, {
    title: "This link no longer works",
    status: 404,
    body: html`<h1>This link no longer works</h1>
<p>It was used already, it is too old, or a newer one took its place. Ask an admin of your workspace for another one.</p>
<p><a class="button quiet" href="/sign-in">To sign-in</a></p>`,
  });
}
