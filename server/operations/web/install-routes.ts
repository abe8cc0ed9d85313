import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { FastifyInstance } from "fastify";
import { html } from "../../platform/html.ts";
import { i18nOf } from "../../platform/language/request-language.ts";
import { sendPage } from "../../platform/pages/page.ts";

/** Files that browsers need to install the web app, by name. */
const files = {
  "icon.svg": "image/svg+xml",
  "icon-192.png": "image/png",
  "icon-512.png": "image/png",
  "icon-maskable-512.png": "image/png",
  "apple-touch-icon.png": "image/png",
  "manifest.webmanifest": "application/manifest+json",
} as const;

const read = (name: string) => readFile(new URL(`../../../web/public/${name}`, import.meta.url));

/**
 * What makes the web app installable: its manifest and icons, the service worker, and the page it shows without a network.
 * @param folder of the built app; its name is that of the build.
 */
export async function installRoutes(app: FastifyInstance, folder: string | null): Promise<void> {
  for (const [name, type] of Object.entries(files)) {
    const content = await read(name);
    app.get(`/${name}`, async (_request, reply) =>
      reply.type(type).header("cache-control", "public, max-age=86400").send(content),
    );
  }
  const worker = (await read("service-worker.js"))
    .toString()
    .replace("parley-%build%", `parley-${basename(folder ?? "none")}`);
  app.get("/service-worker.js", async (_request, reply) =>
    reply
      .type("text/javascript; charset=utf-8")
      // Of the worker itself: it loads files of this server, and nothing else.
      .header("content-security-policy", "default-src 'none'; connect-src 'self'")
      .header("cache-control", "no-cache")
      .send(worker),
  );
  app.get("/offline", async (request, reply) => {
    const i18n = await i18nOf(request);
    return sendPage(reply, {
      i18n,
      title: i18n.t("Offline"),
      body: html`<h1>${i18n.t("You're offline")}</h1>
<p>${i18n.t("Check your connection and try again. Unsaved changes and unfinished uploads are kept in this browser.")}</p>
<p><a class="button" href="">${i18n.t("Try again")}</a></p>`,
    });
  });
}
