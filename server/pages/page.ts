import { createHash } from "node:crypto";
import type { FastifyInstance, FastifyReply } from "fastify";
import { type Html, html } from "./html.ts";
import { styles } from "./styles.ts";

/** The address of the style sheet changes with what it says, so that browsers may keep it. */
const stylesPath = `/assets/pages-${createHash("sha256").update(styles).digest("hex").slice(0, 12)}.css`;

/** A page that people see before the web app, or instead of it: it works without scripts. */
export interface Page {
  readonly title: string;
  readonly body: Html;
  readonly status?: number;
  /** Origins besides our own that a form of this page may lead to, by a redirect. */
  readonly formTargets?: readonly string[];
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

/** Sends a page. Nothing of it is kept by a cache, runs a script, or lets itself be shown in a frame. */
export function sendPage(reply: FastifyReply, page: Page): FastifyReply {
  const targets = ["'self'", ...(page.formTargets ?? [])].join(" ");
  return reply
    .code(page.status ?? 200)
    .type("text/html; charset=utf-8")
    .headers({
      "content-security-policy": `default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action ${targets}; frame-ancestors 'none'`,
      "cache-control": "no-store",
    })
    .send(layout(page).html);
}

function layout({ title, body }: Page): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Parley</title>
<link rel="icon" type="image/svg+xml" href="/icon.svg">
<link rel="stylesheet" href="${stylesPath}">
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
