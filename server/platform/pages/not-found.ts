import type { FastifyReply, FastifyRequest } from "fastify";
import { html } from "../html.ts";
import { i18nOf } from "../language/request-language.ts";
import { sendPage } from "./page.ts";

/** Paths of the APIs, which return problems to every client. */
const apiPrefix = "/_/";

/** Whether a request for an unknown path comes from someone looking at a browser, by its `Accept` header. */
export function wantsPage({
  method,
  url,
  headers,
}: Pick<FastifyRequest, "method" | "url" | "headers">): boolean {
  if ((method !== "GET" && method !== "HEAD") || url.startsWith(apiPrefix)) return false;
  const types = (headers.accept ?? "")
    .split(",", 20)
    .map((type) => type.split(";", 1)[0]?.trim().toLowerCase());
  const [page, json] = [types.indexOf("text/html"), types.indexOf("application/json")];
  return page >= 0 && (json < 0 || page < json);
}

/** The page for a path that does not exist, with status 404. */
export async function sendNotFoundPage(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const i18n = await i18nOf(request);
  return sendPage(reply, {
    i18n,
    title: i18n.t("Page not found"),
    status: 404,
    body: html`<h1>${i18n.t("Page not found")}</h1>
<p>${i18n.t("Check the URL.")}</p>
<p><a class="button quiet" href="/">${i18n.t("Back to library")}</a></p>`,
  });
}
