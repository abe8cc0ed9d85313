import type { FastifyReply, FastifyRequest } from "fastify";
import { html } from "../html.ts";
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
export function sendNotFoundPage(reply: FastifyReply): FastifyReply {
  return sendPage(reply, {
    title: "Page not found",
    status: 404,
    body: html`<h1>Page not found</h1>
<p>Check the URL.</p>
<p><a class="button quiet" href="/">Back to library</a></p>`,
  });
}
