import type { AgentOptions } from "node:https";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** The standard variables, by the scheme of the request's URL; the lower-case form counts first, as in curl. */
const variables = {
  "https:": ["https_proxy", "HTTPS_PROXY"],
  "http:": ["http_proxy", "HTTP_PROXY"],
} as const;

type Environment = Readonly<Record<string, string | undefined>>;
type Target = Pick<URL, "protocol" | "hostname" | "port">;

/** The setting of a proxy is not usable; the message names the variable and what to set. */
export class ProxySettingError extends Error {}

/** A proxy and the variable that names it. */
interface ProxySetting {
  readonly variable: string;
  /** With user name and password, which must not be shown. */
  readonly url: URL;
}

let ownProxy: string | null = null;

/** Names the proxy of the settings (PARLEY_PROXY); null: none. */
export function setOutboundProxy(url: string | null): void {
  ownProxy = url;
}

/** The proxy of the settings; null: none. */
export function outboundProxy(): string | null {
  return ownProxy;
}

/** @returns the proxy that the variables name for a scheme; null: none. @throws ProxySettingError */
export function readProxy(protocol: "https:" | "http:", env: Environment = process.env): ProxySetting | null {
  const variable = variables[protocol].find((name) => (env[name]?.trim() ?? "") !== "");
  if (variable === undefined) return null;
  const text = env[variable]?.trim() ?? "";
  const url = URL.parse(text.includes("://") ? text : `http://${text}`);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === "")
    throw new ProxySettingError(
      `${variable} must be the URL of an HTTP proxy such as http://proxy.example.com:3128`,
    );
  try {
    proxyAuthorization(url);
  } catch {
    throw new ProxySettingError(
      `${variable} has a % in its user name or password that encodes nothing: write it as %25`,
    );
  }
  return { variable, url };
}

/**
 * The proxy for a request; null: it goes out directly, as for hosts in NO_PROXY and always for this machine.
 * @param own counts where the variables name none.
 * @throws ProxySettingError
 */
export function proxyFor(
  target: Target,
  env: Environment = process.env,
  own: string | null = ownProxy,
): URL | null {
  if (target.protocol !== "https:" && target.protocol !== "http:") return null;
  const url = readProxy(target.protocol, env)?.url ?? (own === null ? null : new URL(own));
  if (url === null) return null;
  const host = target.hostname.replace(/^\[|\]$|\.$/g, "").toLowerCase();
  if (isThisMachine(host)) return null;
  const port = target.port || (target.protocol === "https:" ? "443" : "80");
  const exceptions = (env.no_proxy ?? env.NO_PROXY ?? "").split(/[\s,]+/);
  return exceptions.some((exception) => isExcepted(host, port, exception.toLowerCase())) ? null : url;
}

function isThisMachine(host: string): boolean {
  if (host === "localhost" || host.endsWith(".localhost")) return true;
  return isIP(host) !== 0 && ipaddr.process(host).range() === "loopback";
}

/** A name with the names below it, an IP address, a range such as 10.0.0.0/8, each with or without a port; `*` is all. */
function isExcepted(host: string, port: string, exception: string): boolean {
  const [, bracketed, plain, onlyPort] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(exception) ?? [];
  const name = bracketed ?? plain ?? exception;
  if (name === "" || (onlyPort !== undefined && onlyPort !== port)) return false;
  if (name === "*" || name === host) return true;
  if (isIP(host) !== 0) return isInRange(host, name);
  const suffix = name.replace(/^\*?\./, "").replace(/\.$/, "");
  return host === suffix || host.endsWith(`.${suffix}`);
}

function isInRange(host: string, range: string): boolean {
  if (!range.includes("/"))
    return isIP(range) !== 0 && String(ipaddr.parse(range)) === String(ipaddr.parse(host));
  if (!ipaddr.isValidCIDR(range)) return false;
  const [address, [base, bits]] = [ipaddr.process(host), ipaddr.parseCIDR(range)];
  return address.kind() === base.kind() && address.match(base, bits);
}

/** The header that signs in at a proxy. */
export function proxyAuthorization({ username, password }: URL): Record<string, string> {
  if (username === "" && password === "") return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}` };
}

/** What a proxy did instead of opening a tunnel, in words for users; null: the error is another one. */
export function describeProxyRefusal(error: unknown): string | null {
  for (let at = error; at instanceof Error; at = at.cause) {
    const status = /^Proxy response \((\d{3})\)/.exec(at.message)?.[1];
    if (status === "407")
      return "the proxy of this installation does not accept the user name and password, or needs them (status 407)";
    if (status !== undefined)
      return `the proxy of this installation refused the connection (status ${status})`;
  }
  return null;
}

/** Options of Node's agents of HTTP. @param url any URL of the server that the agent is for. */
export function agentOptionsFor(url: string): Pick<AgentOptions, "proxyEnv"> {
  const proxy = proxyFor(new URL(url));
  return proxy === null ? {} : { proxyEnv: { HTTP_PROXY: proxy.href, HTTPS_PROXY: proxy.href } };
}
