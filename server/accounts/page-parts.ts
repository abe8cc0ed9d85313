import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type pg from "pg";
import { errorCatalogue } from "../../contract/errors.ts";
import type { Principal } from "../access/principal.ts";
import { refuseForgery } from "../http/forgery.ts";
import { readForms } from "../http/form-body.ts";
import { ProblemError } from "../http/problem.ts";
import { type Html, html } from "../pages/html.ts";
import { sendPage } from "../pages/page.ts";
import { readSession } from "./authenticate.ts";
import { checkFormToken, formTokenField, formTokenOf } from "./form-token.ts";

/** Makes a scope one of pages: forms are read, and errors are pages as well. */
export function servePages(scope: FastifyInstance): void {
  readForms(scope);
  const asProblem = scope.errorHandler;
  scope.setErrorHandler(async (error: unknown, request, reply) => {
    // What nobody foresaw is logged and answered as everywhere.
    if (!(error instanceof ProblemError)) return asProblem.call(scope, error as never, request, reply);
    reply.headers(error.headers);
    const { title, text } = inPlainWords(error);
    return sendPage(reply, {
      title,
      status: errorCatalogue[error.code].status,
      body: html`<h1>${title}</h1>
<p>${text}</p>
<p><a class="button quiet" href="/sign-in">Back to sign-in</a></p>`,
    });
  });
}

/** What went wrong, for people who know nothing of requests and tokens. */
function inPlainWords({ code, message }: ProblemError): { readonly title: string; readonly text: string } {
  switch (code) {
    case "forbidden":
      return {
        title: "Please try again",
        text: "This form was sent from somewhere else, or its page was open for too long. Nothing was changed.",
      };
    case "rate_limited":
      return { title: "Too many tries", text: "Wait a minute and try again." };
    case "body_too_large":
      return { title: "That was too much", text: "What was sent is longer than it can be." };
    default:
      return {
        title: errorCatalogue[code].title,
        text: `${message.charAt(0).toUpperCase()}${message.slice(1)}.`,
      };
  }
}

/**
 * Checks that a form was sent from a page of ours: by what the browser says of its origin and, with a session, by the
 * form's hidden field.
 * @returns the session that the form came with.
 * @throws ProblemError `forbidden`.
 */
export async function checkForm(
  pool: pg.Pool,
  request: FastifyRequest,
  baseUrl: string,
): Promise<Principal | null> {
  refuseForgery(request);
  const session = await readSession(pool, request, baseUrl);
  if (session !== null) checkFormToken(request, baseUrl);
  return session;
}

/** The hidden field of a form; nothing without a session. */
export function hiddenToken(request: FastifyRequest, baseUrl: string): Html {
  const token = formTokenOf(request, baseUrl);
  return token === null ? html`` : html`<input type="hidden" name="${formTokenField}" value="${token}">`;
}

/** One field of a form as a text; empty when it is missing, sent twice, or no text. */
export function field(request: FastifyRequest, name: string): string {
  const value = (request.body as Record<string, unknown> | undefined)?.[name];
  // The database takes no NUL.
  return typeof value === "string" && !value.includes("\0") ? value : "";
}

/** What is wrong, above a form. */
export function fault(text: string | null): Html {
  return text === null ? html`` : html`<p class="notice bad" role="alert">${text}</p>`;
}

/** Sends the browser on with a new request, so that going back and reloading send nothing again. */
export function seeOther(reply: FastifyReply, to: string): FastifyReply {
  return reply.redirect(to, 303);
}
