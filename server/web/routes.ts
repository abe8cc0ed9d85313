import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import staticFiles from "@fastify/static";
import type { FastifyInstance, FastifyReply } from "fastify";
import { pagePaths, sharedPagePaths } from "../../contract/pages.ts";
import { readSession } from "../accounts/authenticate.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { allowFraming } from "../http/security-headers.ts";
import type { LinkSigner } from "../links/signer.ts";
import { describePage, publicPageOf } from "../public-links/page.ts";
import { keepOut } from "../public-links/shared-routes.ts";
import { readPreloads } from "./preloads.ts";

/** Files whose name changes with their content may be kept for ever. */
const yearSec = 31_536_000;

interface WebAppDependencies {
  readonly db: Database;
  readonly signer: LinkSigner;
  readonly config: Pick<Config, "baseUrl">;
  /** Of the built app; null where it was not built, which its addresses then say. */
  readonly folder: string | null;
}

/** The web app: its files, and its one document at each of its addresses, for people who signed in. */
export async function webAppRoutes(
  app: FastifyInstance,
  { db, signer, config, folder }: WebAppDependencies,
): Promise<void> {
  const document = await readDocument(folder, "index.html");
  const sharedDocument = await readDocument(folder, "shared.html");
  const preloads = folder === null ? null : await readPreloads(folder);
  const icon = await readFile(new URL("../../web/public/icon.svg", import.meta.url));
  app.get("/icon.svg", async (_request, reply) =>
    reply.type("image/svg+xml").header("cache-control", "public, max-age=86400").send(icon),
  );
  for (const path of pagePaths) {
    app.get(path, async (request, reply) => {
      if ((await readSession(db.pool, request, config.baseUrl)) === null) {
        const { recording_id: recordingId } = request.params as { recording_id?: string };
        // A public recording is shown to whoever comes.
        const shared = recordingId && (await publicPageOf({ db, signer }, recordingId, request.query));
        return reply.redirect(shared || `/sign-in?next=${encodeURIComponent(request.url)}`, 303);
      }
      if (document === null) return sendMissing(reply);
      const { policy, html } = fill(
        document.replace("</head>", `  ${preloads?.get(path) ?? ""}\n  </head>`),
        {},
      );
      return reply
        .type("text/html; charset=utf-8")
        .header("content-security-policy", `${policy}; frame-ancestors 'none'`)
        .header("cache-control", "no-cache")
        .send(html);
    });
  }
  for (const path of sharedPagePaths) {
    app.get(path, async (request, reply) => {
      keepOut(reply);
      if (sharedDocument === null) return sendMissing(reply);
      const { token } = request.params as { token: string };
      const { status, ...values } = await describePage({ db, signer, config }, token);
      const { policy, html } = fill(sharedDocument, values);
      if (path.startsWith("/embed/")) allowFraming(reply, policy);
      else reply.header("content-security-policy", `${policy}; frame-ancestors 'none'`);
      return reply.code(status).type("text/html; charset=utf-8").send(html);
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

/** A document of the built app; null where there is none. */
async function readDocument(folder: string | null, name: string): Promise<string | null> {
  if (folder === null) return null;
  return readFile(join(folder, name), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
}

/**
 * Scripts come from this server alone; styles too, but for those that carry the document's own nonce.
 * @param values what takes the place of `%name%` in the document, as HTML.
 * @returns the document and its policy, without `frame-ancestors`.
 */
function fill(document: string, values: Readonly<Record<string, string>>): { policy: string; html: string } {
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
  const all: Readonly<Record<string, string>> = { ...values, nonce };
  // In one pass, so that nothing is looked for in what was put in.
  const html = document.replace(/%([a-z]+)%/g, (found, name: string) => all[name] ?? found);
  return { policy, html };
}

function sendMissing(reply: FastifyReply): FastifyReply {
  return reply
    .code(503)
    .type("text/plain; charset=utf-8")
    .send("The web app is not built here. Start the server with npm start, or run: npm run build\n");
}
