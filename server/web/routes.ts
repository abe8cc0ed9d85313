import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import staticFiles from "@fastify/static";
import type { FastifyInstance, FastifyReply } from "fastify";
import { pagePaths } from "../../contract/pages.ts";
import { readSession } from "../accounts/authenticate.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";

/** Files whose name changes with their content may be kept for ever. */
const yearSec = 31_536_000;

interface WebAppDependencies {
  readonly db: Database;
  readonly config: Pick<Config, "baseUrl">;
  /** Of the built app; null where it was not built, which its addresses then say. */
  readonly folder: string | null;
}

/** The web app: its files, and its one document at each of its addresses, for people who signed in. */
export async function webAppRoutes(
  app: FastifyInstance,
  { db, config, folder }: WebAppDependencies,
): Promise<void> {
  const document = folder === null ? null : await readFile(join(folder, "index.html"), "utf8");
  const icon = await readFile(new URL("../../web/public/icon.svg", import.meta.url));
  app.get("/icon.svg", async (_request, reply) =>
    reply.type("image/svg+xml").header("cache-control", "public, max-age=86400").send(icon),
  );
  for (const path of pagePaths) {
    app.get(path, async (request, reply) => {
      if ((await readSession(db.pool, request, config.baseUrl)) === null)
        return reply.redirect(`/sign-in?next=${encodeURIComponent(request.url)}`, 303);
      return document === null ? sendMissing(reply) : sendDocument(reply, document);
    });
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
}

/** Scripts come from this server alone; styles too, but for those that carry the document's own nonce. */
function sendDocument(reply: FastifyReply, document: string): FastifyReply {
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
  return reply
    .type("text/html; charset=utf-8")
    .header("content-security-policy", `${policy}; frame-ancestors 'none'`)
    .header("cache-control", "no-cache")
    .send(document.replaceAll("%nonce%", nonce));
}

function sendMissing(reply: FastifyReply): FastifyReply {
  return reply
    .code(503)
    .type("text/plain; charset=utf-8")
    .send("The web app is not built here. Start the server with npm start, or run: npm run build\n");
}
