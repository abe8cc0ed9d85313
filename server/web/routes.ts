import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import staticFiles from "@fastify/static";
import type { FastifyInstance, FastifyReply } from "fastify";
import { pagePaths } from "../../contract/pages.ts";
import { allowFraming } from "../http/security-headers.ts";

/** Pages that may be shown in frames of other sites. */
const frameable = /^\/embed\//;

/** Files whose name changes with their content may be kept for ever. */
const yearSec = 31_536_000;

/**
 * The web app: its files, and its one document at each of its addresses.
 * @param folder of the built app; null where it was not built, which its addresses then say.
 */
export async function webAppRoutes(app: FastifyInstance, folder: string | null): Promise<void> {
  const document = folder === null ? null : await readFile(join(folder, "index.html"), "utf8");
  for (const path of pagePaths) {
    app.get(path, async (request, reply) =>
      document === null ? sendMissing(reply) : sendDocument(reply, document, frameable.test(request.url)),
    );
  }
  if (folder === null) return;
  await app.register(staticFiles, {
    root: join(folder, "assets"),
    prefix: "/assets/",
    preCompressed: true,
    index: false,
    cacheControl: true,
    maxAge: yearSec * 1000,
    immutable: true,
    decorateReply: false,
  });
  const icon = await readFile(join(folder, "icon.svg"));
  app.get("/icon.svg", async (_request, reply) =>
    reply.type("image/svg+xml").header("cache-control", "public, max-age=86400").send(icon),
  );
}

/** Scripts come from this server alone; styles too, but for those that carry the document's own nonce. */
function sendDocument(reply: FastifyReply, document: string, isFrameable: boolean): FastifyReply {
  const nonce = randomBytes(16).toString("base64");
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self' https:",
    "img-src 'self' https: data: blob:",
    "media-src 'self' https: blob:",
    "font-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
  ].join("; ");
  if (isFrameable) allowFraming(reply, policy);
  else reply.header("content-security-policy", `${policy}; frame-ancestors 'none'`);
  return reply
    .type("text/html; charset=utf-8")
    .header("cache-control", "no-cache")
    .send(document.replaceAll("%nonce%", nonce));
}

function sendMissing(reply: FastifyReply): FastifyReply {
  return reply
    .code(503)
    .type("text/plain; charset=utf-8")
    .send("The web app is not built here. Start the server with npm start, or run: npm run build\n");
}
