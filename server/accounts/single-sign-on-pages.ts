import type { FastifyInstance, FastifyReply } from "fastify";
import { originOf } from "../audit/record.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import type { Sealer } from "../links/sealer.ts";
import { html } from "../pages/html.ts";
import { sendPage } from "../pages/page.ts";
import { matchIdentity } from "./match-identity.ts";
import { ownPath } from "./next.ts";
import { seeOther, servePages } from "./page-parts.ts";
import { AccountError } from "./service.ts";
import { addCookie, ownCookie, ownCookieOf, sessionCookieOf, setSessionCookie } from "./session-cookie.ts";
import { endSessionOf } from "./sessions.ts";
import { beginSession } from "./sign-in.ts";
import { departureTtlSec, openSingleSignOn, SingleSignOnError } from "./single-sign-on.ts";

/** The way to the provider of single sign-on and back. There is none where it is not set up. */
export async function singleSignOnPages(
  app: FastifyInstance,
  deps: {
    readonly db: Database;
    readonly sealer: Sealer;
    readonly config: Pick<Config, "baseUrl" | "singleSignOn">;
  },
): Promise<void> {
  const { db, sealer } = deps;
  const { baseUrl, singleSignOn: settings } = deps.config;
  if (settings === null) return;
  const singleSignOn = openSingleSignOn(settings, { baseUrl, sealer });

  await app.register(async (scope) => {
    servePages(scope);

    scope.get("/sign-in/sso", async (request, reply) => {
      const next = ownPath((request.query as { next?: unknown }).next);
      try {
        const { location, cookie } = await singleSignOn.depart(next);
        addCookie(reply, ownCookie(baseUrl, "single_sign_on", cookie, departureTtlSec));
        return seeOther(reply, location.href);
      } catch (error) {
        request.log.warn({ err: describe(error) }, "the provider of single sign-on can't be asked");
        return sendFailure(reply, 503, `${settings.name} can't be reached at the moment. Try again shortly.`);
      }
    });

    scope.get("/sign-in/callback", async (request, reply) => {
      const cookie = ownCookieOf(request, baseUrl, "single_sign_on");
      // Once, however it ends.
      addCookie(reply, ownCookie(baseUrl, "single_sign_on", "", 0));
      const from = originOf(request);
      const at = request.url.indexOf("?");
      try {
        const { identity, next } = await singleSignOn.arrive(at === -1 ? "" : request.url.slice(at), cookie);
        const session = await db.kysely.transaction().execute(async (tx) => {
          const user = await matchIdentity(tx, identity, { createUsers: settings.createUsers, from });
          return beginSession(tx, user, "single_sign_on", from);
        });
        await endSessionOf(db, sessionCookieOf(request, baseUrl));
        setSessionCookie(reply, baseUrl, session.cookie);
        return seeOther(reply, ownPath(next));
      } catch (error) {
        if (error instanceof SingleSignOnError) return sendFailure(reply, 403, error.message);
        if (error instanceof AccountError)
          return sendFailure(reply, 409, "Your account is being made at this very moment. Try again.");
        request.log.warn({ err: describe(error) }, "an answer of single sign-on was refused");
        return sendFailure(reply, 400, `The answer of ${settings.name} could not be accepted. Try again.`);
      }
    });
  });
}

/** An error without what it was caused by: that may quote the provider's answer, tokens and all. */
function describe(error: unknown): Error {
  const { name, message, code } = error as { name?: string; message?: string; code?: string };
  return Object.assign(new Error(`${name}: ${message}`), { code });
}

function sendFailure(reply: FastifyReply, status: number, text: string): FastifyReply {
  return sendPage(reply, {
    title: "Sign-in did not work",
    status,
    body: html`<h1>Sign-in did not work</h1>
<p>${text}</p>
<p><a class="button quiet" href="/sign-in">Back to sign-in</a></p>`,
  });
}
