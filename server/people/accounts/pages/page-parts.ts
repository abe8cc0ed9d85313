import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type pg from "pg";
import { errorCatalogue } from "../../../../contract/errors.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import { type Html, html } from "../../../platform/html.ts";
import { readForms } from "../../../platform/http/body/form-body.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { refuseCrossSite } from "../../../platform/http/origin/cross-site.ts";
import { sendPage } from "../../../platform/pages/page.ts";
import { readRuledSession } from "../sign-in/authenticate.ts";
import { checkFormToken, formTokenField, formTokenOf } from "./form-token.ts";

/** Sets up a scope that serves pages: it parses forms, and shows errors as pages. */
export function servePages(scope: FastifyInstance): void {
  readForms(scope);
  const asProblem = scope.errorHandler;
  scope.setErrorHandler(async (error: unknown, request, reply) => {
    // Unexpected errors are logged and sent as in the API.
    if (!(error instanceof ProblemError)) return asProblem.call(scope, error as never, request, reply);
    reply.headers(error.headers);
    const { title, text } = describeForUser(error);
    return sendPage(reply, {
      title,
      status: errorCatalogue[error.code].status,
      body: html`<h1>${title}</h1>
<p>${text}</p>
<p><a class="button quiet" href="/sign-in">Back to sign-in</a></p>`,
    });
  });
}

/** An error in words for users who know nothing of requests and tokens. */
function describeForUser({ code, message }: ProblemError): { readonly title: string; readonly text: string } {
  switch (code) {
    case "forbidden":
      return {
        title: "Please try again",
        text: "This form came from another site, or the page was open for too long. Nothing was changed.",
      };
    case "rate_limited":
      return { title: "Too many attempts", text: "Wait a minute and try again." };
    case "body_too_large":
      return { title: "Form too large", text: "The form contains more text than allowed." };
    default:
      return {
        title: errorCatalogue[code].title,
        text: `${message.charAt(0).toUpperCase()}${message.slice(1)}.`,
      };
  }
}

/**
 * Checks that a form was sent from one of this server's pages: by the browser's origin headers and, with a session, by
 * the form's CSRF token.
 * @returns the session that sent the form.
 * @throws ProblemError `forbidden`.
 */
export async function checkForm(
  pool: pg.Pool,
  request: FastifyRequest,
  baseUrl: string,
): Promise<Principal | null> {
  refuseCrossSite(request);
  const session = await readRuledSession(pool, request, baseUrl);
  if (session !== null) checkFormToken(request, baseUrl);
  return session?.principal ?? null;
}

/** The hidden field with the CSRF token; empty without a session. */
export function hiddenToken(request: FastifyRequest, baseUrl: string): Html {
  const token = formTokenOf(request, baseUrl);
  return token === null ? html`` : html`<input type="hidden" name="${formTokenField}" value="${token}">`;
}

/** A form field as text; empty when it is missing, repeated or not text. */
export function field(request: FastifyRequest, name: string): string {
  const value = (request.body as Record<string, unknown> | undefined)?.[name];
  // PostgreSQL does not store NUL.
  return typeof value === "string" && !value.includes("\0") ? value : "";
}

/** The error message above a form. */
export function errorNotice(text: string | null): Html {
  return text === null ? html`` : html`<p class="notice bad" role="alert">${text}</p>`;
}

/** Redirects with 303, so that going back or reloading does not submit the form again. */
export function seeOther(reply: FastifyReply, to: string): FastifyReply {
  return reply.redirect(to, 303);
}
