import type { FastifyReply, FastifyRequest } from "fastify";
import { originOf } from "../../../platform/audit/record.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { SignInProvider } from "../../../platform/config/sign-in-providers.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import { transactWithRetry } from "../../../platform/db/retry.ts";
import { html } from "../../../platform/html.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import type { Localized } from "../../../platform/language/i18n.ts";
import { i18nOf } from "../../../platform/language/request-language.ts";
import { sendPage } from "../../../platform/pages/page.ts";
import { mailOf } from "../one-time-links/account-changes.ts";
import { ownPath } from "../pages/next.ts";
import { backToSignIn, field, seeOther } from "../pages/page-parts.ts";
import { describeError } from "../pages/texts.ts";
import { AccountError } from "../service.ts";
import { readSession } from "../sign-in/authenticate.ts";
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
import { RefusedSignIn, recordRefusal } from "../sign-in/sign-in-rules.ts";
import { acceptIdentity } from "./accept-identity.ts";
import { endLoggedOut, LogoutTokenError } from "./logout-token.ts";
import { connectIdentity } from "./match-identity.ts";
import { ProviderSettingsError } from "./provider.ts";
import { type Connects, openSingleSignOn, SingleSignOnError, signInTtlSec } from "./single-sign-on.ts";

/** Logout tokens have some hundred bytes. */
const maxLogoutTokenLength = 10_000;

/** The redirects to a provider of single sign-on and back. */
export function createSingleSignOnPages(
  settings: SignInProvider,
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly encryptor: Encryptor;
    readonly config: Pick<Config, "baseUrl" | "signInProviders" | "smtp">;
  },
) {
  const { db, encryptor, config } = deps;
  const { baseUrl } = config;
  const singleSignOn = openSingleSignOn(settings, { baseUrl, encryptor });
  return {
    async start(request: FastifyRequest, reply: FastifyReply) {
      const next = ownPath((request.query as { next?: unknown }).next);
      try {
        const { location, cookie } = await singleSignOn.start(next, null);
        addCookie(reply, ownCookie(baseUrl, "single_sign_on", cookie, signInTtlSec));
        return seeOther(reply, location.href);
      } catch (error) {
        if (error instanceof ProviderSettingsError) return sendSettingsFailure(request, reply, error);
        request.log.warn({ err: describe(error) }, "the single sign-on provider is unreachable");
        return sendFailure(request, reply, 503, (i18n) =>
          i18n.t("{name} can't be reached right now. Try again shortly.", { name: settings.name }),
        );
      }
    },

    /** The URL at which a user connects the provider with their account, and the cookie to set. @throws when it can't be reached. */
    async connect(connects: Connects) {
      const { location, cookie } = await singleSignOn.start("/settings", connects);
      return {
        url: location.href,
        cookie: ownCookie(baseUrl, "single_sign_on", cookie, signInTtlSec),
      };
    },

    /** Ends the sessions of a user who signed out at the provider. The token in the body is the only proof. */
    async logOut(request: FastifyRequest, reply: FastifyReply) {
      reply.header("cache-control", "no-store");
      const refuse = (status: number, error: string, error_description: string) =>
        reply.code(status).send({ error, error_description });
      const token = field(request, "logout_token");
      if (token === "" || token.length > maxLogoutTokenLength)
        return refuse(400, "invalid_request", "send the logout token as the form field logout_token");
      try {
        const ended = await endLoggedOut(db, await singleSignOn.readLogout(token), originOf(request));
        // Providers send those of many users from one IP address.
        request.refundRateLimit?.();
        request.log.info({ provider: settings.id, ended }, "the provider ended sessions");
        return reply.code(200).send();
      } catch (error) {
        if (error instanceof LogoutTokenError) {
          request.log.warn({ provider: settings.id }, `a logout was refused: ${error.message}`);
          return refuse(400, "invalid_request", error.message);
        }
        request.log.warn({ err: describe(error) }, "the keys of a single sign-on provider can't be fetched");
        return refuse(503, "temporarily_unavailable", "the keys of the provider can't be fetched");
      }
    },

    async finish(request: FastifyRequest, reply: FastifyReply) {
      const cookie = ownCookieOf(request, baseUrl, "single_sign_on");
      // Used once, whatever the outcome.
      addCookie(reply, ownCookie(baseUrl, "single_sign_on", "", 0));
      const from = signInOriginOf(request);
      const options = {
        provider: settings,
        providers: config.signInProviders,
        mail: mailOf(deps),
        from,
      };
      const at = request.url.indexOf("?");
      try {
        const { identity, next, connects } = await singleSignOn.finish(
          at === -1 ? "" : request.url.slice(at),
          cookie,
        );
        if (connects !== null) {
          const session = await readSession(db.pool, request, baseUrl);
          if (session?.tokenId !== connects.sessionId)
            throw new SingleSignOnError((i18n) =>
              i18n.t("You have signed out meanwhile. Sign in and connect {name} again.", {
                name: settings.name,
              }),
            );
          await transactWithRetry(db, (tx) =>
            connectIdentity(tx, identity, { ...options, userId: connects.userId }),
          );
          deps.jobs.wake();
          return seeOther(reply, ownPath(next));
        }
        const begin = async (tx: Tx) => {
          const { user } = await acceptIdentity(tx, identity, options);
          const { issuer, subject, sid } = identity;
          return beginSession(
            tx,
            user,
            { method: "single_sign_on", identity: { issuer, subject, sid } },
            from,
          );
        };
        const session = await recordRefusal(db, from, () => transactWithRetry(db, begin));
        deps.jobs.wake();
        await endSessionOf(db, sessionCookieOf(request, baseUrl));
        setSessionCookie(reply, baseUrl, session.cookie);
        return seeOther(reply, ownPath(next));
      } catch (error) {
        if (error instanceof SingleSignOnError) {
          if (error.hint !== null) request.log.warn(`a single sign-on was refused: ${error.hint}`);
          return sendFailure(request, reply, 403, error.text);
        }
        if (error instanceof ProviderSettingsError) return sendSettingsFailure(request, reply, error);
        if (error instanceof RefusedSignIn)
          return sendFailure(request, reply, 403, describeError(error).text);
        if (error instanceof AccountError)
          return sendFailure(request, reply, 409, (i18n) =>
            i18n.t("Your account is just being created. Try again."),
          );
        request.log.warn({ err: describe(error) }, "a single sign-on response was refused");
        return sendFailure(request, reply, 400, (i18n) =>
          i18n.t("The response from {name} was invalid. Try again.", { name: settings.name }),
        );
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
): Promise<FastifyReply> {
  request.log.warn(`single sign-on is not set up correctly: ${message}`);
  // The problem itself names settings, as the API and the log do.
  return sendFailure(request, reply, 503, (i18n) =>
    i18n.t("Single sign-on is not set up correctly: {problem}. Ask an admin.", { problem: message }),
  );
}

/** The page of a sign-in that failed. */
async function sendFailure(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  text: Localized,
): Promise<FastifyReply> {
  const i18n = await i18nOf(request);
  return sendPage(reply, {
    i18n,
    title: i18n.t("Sign-in failed"),
    status,
    body: html`<h1>${i18n.t("Sign-in failed")}</h1>
<p>${text(i18n)}</p>
${backToSignIn(i18n)}`,
  });
}
