import type { FastifyInstance } from "fastify";
import type { Config } from "../../config/config.ts";
import { html } from "../../html.ts";
import { i18nOf } from "../../language/request-language.ts";
import { sendPage } from "../../pages/page.ts";

const contactPath = "/security-contact";
const dayMs = 86_400_000;

/** RFC 9116, section 2.5.5, recommends less than a year. */
const validDays = 180;

/**
 * Where to report a vulnerability (RFC 9116): `PARLEY_SECURITY_CONTACT`, or a page that says whom to ask.
 */
export function securityTxtRoutes(
  app: FastifyInstance,
  config: Pick<Config, "baseUrl" | "securityContacts">,
): void {
  const { baseUrl } = config;

  app.get("/.well-known/security.txt", async (_request, reply) => {
    const { securityContacts } = config;
    const contacts = securityContacts.length > 0 ? securityContacts : [`${baseUrl}${contactPath}`];
    // Whole days, so that the file does not change with every request.
    const expires = new Date((Math.floor(Date.now() / dayMs) + validDays) * dayMs);
    const lines = [
      ...contacts.map((contact) => `Contact: ${contact}`),
      `Expires: ${expires.toISOString().replace(".000", "")}`,
      "Preferred-Languages: en",
      // URLs in this file must be https (section 2.5.2).
      ...(baseUrl.startsWith("https:") ? [`Canonical: ${baseUrl}/.well-known/security.txt`] : []),
    ];
    return reply
      .type("text/plain; charset=utf-8")
      .header("cache-control", "public, max-age=86400")
      .send(`${lines.join("\n")}\n`);
  });

  app.get(contactPath, async (request, reply) => {
    const { securityContacts } = config;
    const i18n = await i18nOf(request);
    return sendPage(reply, {
      i18n,
      title: i18n.t("Report a vulnerability"),
      body: html`<h1>${i18n.t("Report a vulnerability")}</h1>
${
  securityContacts.length > 0
    ? html`<p>${i18n.t("Write to {contacts}.", { contacts: securityContacts.join(", ") })}</p>`
    : html`<p>${i18n.t("The operator of this server has not published a contact. Ask the person in your organization who runs it, or the admin of your workspace.")}</p>
<p class="soft">${i18n.t("If you run this server, set {setting} to an email address or a web page.", { setting: html`<code>PARLEY_SECURITY_CONTACT</code>` })}</p>`
}`,
    });
  });
}
