import { createHash } from "node:crypto";
import type { FastifyInstance, FastifyReply } from "fastify";
import { directionOf, sourceLanguage } from "../../../shared/languages.ts";
import { type Html, html } from "../html.ts";
import type { I18n } from "../language/i18n.ts";
import { styles } from "./styles.ts";

/** The URL contains a hash of the style sheet, so that browsers can cache it permanently. */
const stylesPath = `/assets/pages-${createHash("sha256").update(styles).digest("hex").slice(0, 12)}.css`;

/** A server-rendered page, which works without JavaScript. */
export interface Page {
  readonly title: string;
  readonly body: Html;
  /** What the title and the body were written with; without it, they are English. */
  readonly i18n?: I18n;
  readonly status?: number;
  /** Other origins that a form of this page may redirect to. */
  readonly formTargets?: readonly string[];
  /** The URL of a script of this server, without which the page works too. */
  readonly script?: string;
}

/** The style sheet of the pages. */
export function pageRoutes(app: FastifyInstance): void {
  app.get(stylesPath, async (_request, reply) =>
    reply
      .type("text/css; charset=utf-8")
      .header("cache-control", "public, max-age=31536000, immutable")
      .send(styles),
  );
}

/** Sends a page that is not cached, runs no scripts but its own and can't be framed. */
export function sendPage(reply: FastifyReply, page: Page): FastifyReply {
  const scripts = page.script === undefined ? "" : "; script-src 'self'; connect-src 'self'";
  const targets = ["'self'", ...(page.formTargets ?? [])].join(" ");
  return reply
    .code(page.status ?? 200)
    .type("text/html; charset=utf-8")
    .headers({
      "content-security-policy": `default-src 'none'; style-src 'self'; img-src 'self'${scripts}; base-uri 'none'; form-action ${targets}; frame-ancestors 'none'`,
      "cache-control": "no-store",
    })
    .send(layout(page).html);
}

function layout({ title, body, script, i18n }: Page): Html {
  const language = i18n?.language ?? sourceLanguage;
  return html`<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Parley</title>
<link rel="icon" type="image/svg+xml" href="/icon.svg">
<link rel="stylesheet" href="${stylesPath}">
${script === undefined ? html`` : html`<script src="${script}" defer></script>`}
</head>
<body>
<header><img src="/icon.svg" width="36" height="36" alt="">Parley</header>
<main>
${body}
</main>
</body>
</html>
`;
}
