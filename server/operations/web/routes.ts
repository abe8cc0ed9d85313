import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import staticFiles from "@fastify/static";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Uuid } from "../../../contract/common.ts";
import { pagePaths, publicLinkPagePaths } from "../../../contract/pages.ts";
import { directionOf } from "../../../shared/languages.ts";
import { readRuledSession } from "../../people/accounts/sign-in/authenticate.ts";
import { rememberBrowserLanguage } from "../../people/accounts/users/me.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Config } from "../../platform/config/config.ts";
import type { LinkSigner } from "../../platform/crypto/link-signer.ts";
import type { Database } from "../../platform/db/database.ts";
import { escapeHtml, html as pageHtml } from "../../platform/html.ts";
import { allowFraming, allowRecording } from "../../platform/http/origin/security-headers.ts";
import { i18nFor } from "../../platform/language/i18n.ts";
import { i18nOf, languageOf, rememberLanguage } from "../../platform/language/request-language.ts";
import { sendPage } from "../../platform/pages/page.ts";
import { canSeeRecording } from "../../recordings/recordings/queries.ts";
import { describePage, publicPageOf } from "../../sharing/public-links/view/page.ts";
import { keepOut } from "../../sharing/public-links/view/page-routes.ts";
import { installRoutes } from "./install-routes.ts";
import { preloadRecording, readPreloads } from "./preloads.ts";

/** Files whose names change with their content can be cached indefinitely. */
const yearSec = 31_536_000;

interface WebAppDependencies {
  readonly db: Database;
  readonly signer: LinkSigner;
  readonly config: Pick<Config, "baseUrl" | "s3">;
  /** Of the built app; null where it was not built, which its addresses then say. */
  readonly folder: string | null;
}

/** The web app for signed-in users: its files, and its document at each of its URLs. */
export async function webAppRoutes(
  app: FastifyInstance,
  { db, signer, config, folder }: WebAppDependencies,
): Promise<void> {
  // URLs of files start with the base URL, even when the page was opened under another host name. With S3 they are the
  // bucket's own URLs; otherwise everything comes from this server.
  const files = ` ${new URL(config.baseUrl).origin}${config.s3 === null ? "" : " https:"}`;
  const document = await readDocument(folder, "index.html");
  const sharedDocument = await readDocument(folder, "public-link.html");
  const preloads = folder === null ? null : await readPreloads(folder);
  await installRoutes(app, folder);
  for (const path of pagePaths) {
    app.get(path, async (request, reply) => {
      const ruled = await readRuledSession(db.pool, request, config.baseUrl);
      const session = ruled?.principal ?? null;
      const { recording_id: given = "" } = request.params as { recording_id?: string };
      const recordingId = Uuid.safeParse(given).data?.toLowerCase();
      // The URL of a public recording works for everyone, also for users of another workspace.
      if (
        recordingId !== undefined &&
        (session === null ||
          ruled?.refusal !== null ||
          !(await canSeeRecording(db.pool, session, recordingId)))
      ) {
        const shared = await publicPageOf({ db, signer }, recordingId, request.query);
        if (shared !== null) return reply.redirect(shared, 303);
      }
      if (session === null) return reply.redirect(`/sign-in?next=${encodeURIComponent(request.url)}`, 303);
      if (ruled?.refusal === "address") return sendRefused(request, reply, session);
      await rememberBrowserLanguage(db, request, {
        userId: session.userId,
        known: ruled?.browserLanguage ?? null,
      });
      if (document === null) return sendMissing(reply);
      const isRecording = path === "/recordings/:recording_id" && recordingId !== undefined;
      const elements = (isRecording ? preloadRecording(given) : "") + (preloads?.get(path) ?? "");
      const { language = null } = session;
      rememberLanguage(request, reply, language);
      const whole = document.replace("</head>", `  ${elements}\n  </head>`);
      const { policy, html } = fill(files, whole, await languageValues(languageOf(request, language)));
      allowRecording(reply);
      return reply
        .type("text/html; charset=utf-8")
        .header("content-security-policy", `${policy}; frame-ancestors 'none'`)
        .header("cache-control", "no-cache")
        .send(html);
    });
  }
  for (const path of publicLinkPagePaths) {
    app.get(path, async (request, reply) => {
      keepOut(reply);
      if (sharedDocument === null) return sendMissing(reply);
      const { token } = request.params as { token: string };
      const { status, ...values } = await describePage({ db, signer, config }, token);
      const { policy, html } = fill(files, sharedDocument, {
        ...values,
        ...(await languageValues(languageOf(request))),
      });
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

/** What the web app starts with: the reader's language is chosen by the same rule as for the server's own pages. */
async function languageValues(language: string): Promise<Readonly<Record<string, string>>> {
  const i18n = await i18nFor(language);
  return {
    language,
    direction: directionOf(language),
    layers: escapeHtml(i18n.t("Open menus and dialogs")),
    appneeds: escapeHtml(i18n.t("Parley requires JavaScript. The API works without it; see /docs.")),
    pageneeds: escapeHtml(i18n.t("This page requires JavaScript.")),
  };
}

/**
 * Allows scripts and styles from this server alone, and inline styles with the document's nonce.
 * @param files sources of recordings' files besides this server, each after a space.
 * @param values HTML that replaces `%name%` in the document.
 * @returns the document and its policy, without `frame-ancestors`.
 */
function fill(
  files: string,
  document: string,
  values: Readonly<Record<string, string>>,
): { policy: string; html: string } {
  const nonce = randomBytes(16).toString("base64");
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    `connect-src 'self'${files}`,
    `img-src 'self'${files} data: blob:`,
    `media-src 'self'${files} blob:`,
    "font-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
  ].join("; ");
  const all: Readonly<Record<string, string>> = { ...values, nonce };
  // In a single pass, so that placeholders in inserted values are not replaced.
  const html = document.replace(/%([a-z]+)%/g, (found, name: string) => all[name] ?? found);
  return { policy, html };
}

/** For a signed-in user whose workspace doesn't allow this IP address. */
async function sendRefused(
  request: FastifyRequest,
  reply: FastifyReply,
  { language }: Principal,
): Promise<FastifyReply> {
  const i18n = await i18nOf(request, language);
  return sendPage(reply, {
    i18n,
    title: i18n.t("This network isn't allowed"),
    status: 403,
    body: pageHtml`<h1>${i18n.t("This network isn't allowed")}</h1>
<p>${i18n.t("Your workspace allows access from certain IP addresses only. Connect to its network or VPN and reload this page, or ask an admin.")}</p>
<p><a class="button quiet" href="/sign-out">${i18n.t("Sign out")}</a></p>`,
  });
}

function sendMissing(reply: FastifyReply): FastifyReply {
  return reply
    .code(503)
    .type("text/plain; charset=utf-8")
    .send(
      "The web app is not built, or the server can't read it; the server's log says which. To build it, run: npm run build\n",
    );
}
