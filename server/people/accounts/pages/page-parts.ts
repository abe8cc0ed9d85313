import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type pg from "pg";
import { errorCatalogue } from "../../../../contract/errors.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import { type Html, html } from "../../../platform/html.ts";
import { readForms } from "../../../platform/http/body/form-body.ts";
import { toProblem } from "../../../platform/http/errors/errors.ts";
import { refuseCrossSite } from "../../../platform/http/origin/cross-site.ts";
import type { I18n } from "../../../platform/language/i18n.ts";
import { i18nOf } from "../../../platform/language/request-language.ts";
import { sendPage } from "../../../platform/pages/page.ts";
import { readRuledSession } from "../sign-in/authenticate.ts";
import { checkFormToken, formTokenField, formTokenOf } from "./form-token.ts";
import { describeError } from "./texts.ts";

/** Sets up a scope that serves pages: it parses forms, and shows errors as pages. */
export function servePages(scope: FastifyInstance): void {
  readForms(scope);
  const asProblem = scope.errorHandler;
  scope.setErrorHandler(async (error, request, reply) => {
    const problem = toProblem(error);
    const { status } = errorCatalogue[problem.code];
    // Unexpected errors are logged and sent as in the API.
    if (problem !== error && status >= 500) return asProblem.call(scope, error, request, reply);
    reply.headers(problem.headers);
    const i18n = await i18nOf(request);
    const { title, text } = describeError(problem);
    return sendPage(reply, {
      i18n,
      title: title(i18n),
      status,
      body: html`<h1>${title(i18n)}</h1>
<p>${text(i18n)}</p>
${backToSignIn(i18n)}`,
    });
  });
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

/** The last line of pages that end a sign-in. */
export function backToSignIn(i18n: I18n): Html {
  return html`<p><a class="button quiet" href="/sign-in">${i18n.t("Back to sign-in")}</a></p>`;
}

/** The error message above a form. */
export function errorNotice(text: string | null): Html {
  return text === null ? html`` : html`<p class="notice bad" role="alert">${text}</p>`;
}

/** Redirects with 303, so that going back or reloading does not submit the form again. */
export function seeOther(reply: FastifyReply, to: string): FastifyReply {
  return reply.redirect(to, 303);
}
