import type { FastifyReply, FastifyRequest } from "fastify";
import type { SingleSignOnSettings } from "../../../platform/config/config.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database } from "../../../platform/db/database.ts";
import { transactWithRetry } from "../../../platform/db/retry.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { html } from "../../../platform/pages/html.ts";
import { sendPage } from "../../../platform/pages/page.ts";
import { ownPath } from "../pages/next.ts";
import { seeOther } from "../pages/page-parts.ts";
import { AccountError } from "../service.ts";
import { signInOriginOf } from "../sign-in/devices.ts";
import {
  addCookie,
  ownCookie,
  ownCookieOf,
  sessionCookieOf,
  setSessionCookie,
} from "../sign-in/session-cookie.ts";
import { endSessionOf } from "../sign-in/sessions.ts";
import { beginSession } from "../sign-in/sign-in.ts";
import { matchIdentity } from "./match-identity.ts";
import { ProviderSettingsError } from "./provider.ts";
import { openSingleSignOn, SingleSignOnError, signInTtlSec } from "./single-sign-on.ts";

/** The redirects to the single sign-on provider and back. */
export function createSingleSignOnPages(
  settings: SingleSignOnSettings,
  deps: { readonly db: Database; readonly encryptor: Encryptor; readonly baseUrl: string },
) {
  const { db, encryptor, baseUrl } = deps;
  const singleSignOn = openSingleSignOn(settings, { baseUrl, encryptor });
  return {
    async start(request: FastifyRequest, reply: FastifyReply) {
      const next = ownPath((request.query as { next?: unknown }).next);
      try {
        const { location, cookie } = await singleSignOn.start(next);
        addCookie(reply, ownCookie(baseUrl, "single_sign_on", cookie, signInTtlSec));
        return seeOther(reply, location.href);
      } catch (error) {
        if (error instanceof ProviderSettingsError) return sendSettingsFailure(request, reply, error);
        request.log.warn({ err: describe(error) }, "the single sign-on provider is unreachable");
        return sendFailure(reply, 503, `${settings.name} can't be reached right now. Try again shortly.`);
      }
    },

    async finish(request: FastifyRequest, reply: FastifyReply) {
      const cookie = ownCookieOf(request, baseUrl, "single_sign_on");
      // Used once, whatever the outcome.
      addCookie(reply, ownCookie(baseUrl, "single_sign_on", "", 0));
      const from = signInOriginOf(request);
      const at = request.url.indexOf("?");
      try {
        const { identity, next } = await singleSignOn.finish(at === -1 ? "" : request.url.slice(at), cookie);
        const session = await transactWithRetry(db, async (tx) => {
          const user = await matchIdentity(tx, identity, { createUsers: settings.createUsers, from });
          return beginSession(tx, user, { method: "single_sign_on" }, from);
        });
        await endSessionOf(db, sessionCookieOf(request, baseUrl));
        setSessionCookie(reply, baseUrl, session.cookie);
        return seeOther(reply, ownPath(next));
      } catch (error) {
        if (error instanceof SingleSignOnError) {
          if (error.hint !== null) request.log.warn(`a single sign-on was refused: ${error.hint}`);
          return sendFailure(reply, 403, error.message);
        }
        if (error instanceof ProviderSettingsError) return sendSettingsFailure(request, reply, error);
        if (error instanceof ProblemError && error.code === "refused_by_rule")
          return sendFailure(
            reply,
            403,
            `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`,
          );
        if (error instanceof AccountError)
          return sendFailure(reply, 409, "Your account is just being created. Try again.");
        request.log.warn({ err: describe(error) }, "a single sign-on response was refused");
        return sendFailure(reply, 400, `The response from ${settings.name} was invalid. Try again.`);
      }
    },
  };
}

/** An error without its cause, which may quote the provider's response including tokens. */
function describe(error: unknown): Error {
  const { name, message, code } = error as { name?: string; message?: string; code?: string };
  return Object.assign(new Error(`${name}: ${message}`), { code });
}

function sendSettingsFailure(
  request: FastifyRequest,
  reply: FastifyReply,
  { message }: ProviderSettingsError,
): FastifyReply {
  request.log.warn(`single sign-on is not set up correctly: ${message}`);
  return sendFailure(reply, 503, `Single sign-on is not set up correctly: ${message}. Ask an admin.`);
}

function sendFailure(reply: FastifyReply, status: number, text: string): FastifyReply {
  return sendPage(reply, {
    title: "Sign-in failed",
    status,
    body: html`<h1>Sign-in failed</h1>
<p>${text}</p>
<p><a class="button quiet" href="/sign-in">Back to sign-in</a></p>`,
  });
}
