import { isIP } from "node:net";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Config } from "../../config/config.ts";
import { hostNameOf, isLoopbackHost } from "../../config/host-name.ts";
import { type Html, html } from "../../html.ts";
import { i18nOf } from "../../language/request-language.ts";
import { sendPage } from "../../pages/page.ts";
import { ProblemError } from "../errors/problem.ts";

/** Paths that load balancers request by IP address. */
const healthPaths = new Set(["/healthz", "/readyz"]);

/** Paths that the refusal page loads. */
const pageParts = /^\/(icon\.svg|assets\/pages-[0-9a-f]+\.css)$/;

/** Hosts of this server, in the form of `hostNameOf`, also after a change of the settings. */
function trustedHosts(config: Pick<Config, "baseUrl" | "host" | "trustedHosts">): () => ReadonlySet<string> {
  const own = [new URL(config.baseUrl).host, config.host.includes(":") ? `[${config.host}]` : config.host];
  const names = own.map(hostNameOf).filter((name) => name !== null);
  // The wildcard addresses are not host names.
  let last: { readonly of: Config["trustedHosts"]; readonly hosts: ReadonlySet<string> } | undefined;
  return () => {
    const of = config.trustedHosts;
    if (last?.of !== of)
      last = {
        of,
        hosts: new Set([...names, ...of].filter((name) => name !== "0.0.0.0" && name !== "[::]")),
      };
    return last.hosts;
  };
}

/**
 * Whether the metrics may be read under this Host header: under the names of this server, IP addresses and names without a
 * dot, such as those of containers. A page of another site can't give itself one of these (DNS rebinding).
 * @param host undefined: none was sent, which no browser does.
 */
export function createMetricsHostCheck(
  config: Pick<Config, "baseUrl" | "host" | "trustedHosts">,
): (host: string | undefined) => boolean {
  const trusted = trustedHosts(config);
  return (host) => {
    if (host === undefined) return true;
    const name = hostNameOf(host);
    if (name === null) return false;
    return (
      isLoopbackHost(name) ||
      trusted().has(name) ||
      !name.includes(".") ||
      isIP(name.replace(/^\[|\]$/g, "")) !== 0
    );
  };
}

/**
 * Refuses requests for hosts that are not this server's. Otherwise a page of another site could point its own name at
 * this server and talk to it as the same site (DNS rebinding). Source: RFC 9110, section 15.5.20.
 */
export function checkHosts(
  app: FastifyInstance,
  config: Pick<Config, "baseUrl" | "host" | "trustedHosts">,
): void {
  const trusted = trustedHosts(config);
  app.addHook("onRequest", async (request, reply) => {
    const given = hostsOf(request);
    const path = request.url.split("?", 1)[0] ?? "";
    if (healthPaths.has(path) || pageParts.test(path)) return;
    for (const text of given) {
      const name = hostNameOf(text);
      if (name === null)
        throw new ProblemError("bad_request", "the Host header is not a host name with an optional port");
      if (!isLoopbackHost(name) && !trusted().has(name)) return refuse(request, reply, name);
    }
  });
}

/**
 * Every host that a request names: a proxy's `X-Forwarded-Host` counts in addition to the Host header, since some proxies
 * pass on what the client wrote there.
 * @throws ProblemError `bad_request` for more than one Host header (RFC 9112, section 3.2).
 */
function hostsOf(request: FastifyRequest): string[] {
  const { rawHeaders, headers, httpVersion } = request.raw;
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]?.toLowerCase() === "host") count += 1;
  if (count > 1) throw new ProblemError("bad_request", "the request has more than one Host header; send one");
  // HTTP/1.0 has no Host header, and no browser uses it.
  if (headers.host === undefined && httpVersion === "1.0") return [];
  const target = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(request.url)?.[1];
  const forwarded = request.host;
  return [
    headers.host ?? "",
    ...(forwarded === undefined || forwarded === headers.host ? [] : [forwarded]),
    ...(target === undefined ? [] : [target]),
  ];
}

async function refuse(request: FastifyRequest, reply: FastifyReply, name: string): Promise<FastifyReply> {
  if (!/text\/html/i.test(request.headers.accept ?? ""))
    throw new ProblemError(
      "misdirected_request",
      `this server is not set up for the host ${name}; add it to the setting PARLEY_TRUSTED_HOSTS, or set PARLEY_BASE_URL`,
    );
  const i18n = await i18nOf(request);
  const code = (inner: Html) => html`<code>${inner}</code>`;
  return sendPage(reply, {
    i18n,
    title: i18n.t("Unknown host name"),
    status: 421,
    body: html`<h1>${i18n.t("Unknown host name")}</h1>
<p>${i18n.t("This server is not set up for the host <code>{name}</code>.", { name, code })}</p>
<p>${i18n.t(
      "If you run it, start it with {trusted}, or make this its base URL with {base}. Otherwise ask the person who gave you the link.",
      {
        trusted: html`<code>PARLEY_TRUSTED_HOSTS=${name}</code>`,
        base: html`<code>PARLEY_BASE_URL</code>`,
      },
    )}</p>`,
  });
}
