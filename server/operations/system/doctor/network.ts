import { once } from "node:events";
import { createServer } from "node:net";
import { checkProvider } from "../../../people/accounts/sso/check-provider.ts";
import type { Config } from "../../../platform/config/config.ts";
import { proxyFor, readProxy } from "../../../platform/outbound/proxy.ts";
import { reasonOf } from "../health/finding.ts";
import { type Check, passed, skipped, tryCheck, warning, wrong } from "./check.ts";

/** How long a server on this machine may take. */
const localMs = 3000;

/** The ports that this process will listen on, the URL that it is reached by, and single sign-on. */
export async function checkNetwork(config: Config): Promise<Check[]> {
  const { role, host, port, healthAddress, metricsAddress } = config;
  const checks: Promise<Check>[] = [];
  if (role !== "worker") checks.push(checkPort("port", "PARLEY_PORT", { host, port }, "/readyz"));
  if (role === "worker" && healthAddress !== null)
    checks.push(checkPort("health port", "PARLEY_HEALTH_ADDRESS", healthAddress, "/readyz"));
  if (metricsAddress !== null)
    checks.push(checkPort("metrics port", "PARLEY_METRICS_ADDRESS", metricsAddress, "/metrics"));
  checks.push(
    Promise.resolve(checkProxy(config)),
    Promise.resolve(checkBaseUrl(config)),
    checkSingleSignOn(config),
  );
  return Promise.all(checks);
}

async function checkPort(
  name: string,
  setting: string,
  { host, port }: { readonly host: string; readonly port: number },
  path: string,
): Promise<Check> {
  const server = createServer();
  try {
    server.listen({ host, port });
    await once(server, "listening");
    server.close();
    await once(server, "close");
    return passed(name, `Port ${port} of ${host} is free.`);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "EADDRINUSE")
      return (await isParley(host, port, path))
        ? passed(name, `Parley is running on port ${port} of ${host}.`)
        : wrong(
            name,
            `Port ${port} of ${host} is in use by another program.`,
            `Stop that program, or set ${setting} to another port.`,
          );
    if (code === "EACCES")
      return wrong(
        name,
        `This user may not listen on port ${port}.`,
        `Set ${setting} to a port above 1023, and put a proxy before it.`,
      );
    return wrong(name, `${host} port ${port}: ${reasonOf(error)}`, `Correct ${setting} or PARLEY_HOST.`);
  }
}

/** Whether the program on a port responds as Parley does. */
async function isParley(host: string, port: number, path: string): Promise<boolean> {
  const own = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  try {
    const { request } = await import("undici");
    const { body } = await request(`http://${own.includes(":") ? `[${own}]` : own}:${port}${path}`, {
      signal: AbortSignal.timeout(localMs),
    });
    // Bounded: the rest of a longer response is not read.
    let text = "";
    for await (const chunk of body) {
      text += chunk;
      if (text.length > 100_000) break;
    }
    return path === "/metrics"
      ? text.includes("parley_")
      : /"status":"(ready|not ready|stopping)"/.test(text);
  } catch {
    return false;
  }
}

function checkBaseUrl({ baseUrl, host }: Config): Check {
  const name = "base URL";
  const url = new URL(baseUrl);
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  const isLocalHost = ["localhost", "127.0.0.1", "::1"].includes(host);
  const remedy = "Set PARLEY_BASE_URL to the https URL that users open.";
  if (isLocal && !isLocalHost)
    return warning(
      name,
      `Links in emails and public links begin with ${baseUrl}, which other machines can't open.`,
      remedy,
    );
  if (!isLocal && url.protocol === "http:")
    return warning(name, `${baseUrl} is not encrypted: passwords can be read on the way.`, remedy);
  return passed(name, `Users open ${baseUrl}.`);
}

/** Which proxy is used, for which of the configured servers; never with its password. */
function checkProxy(config: Config, env: NodeJS.ProcessEnv = process.env): Check {
  const name = "proxy";
  const proxies = (["https:", "http:"] as const).flatMap((protocol) => {
    const proxy = readProxy(protocol, env);
    return proxy === null ? [] : [`${proxy.url.origin} for ${protocol.slice(0, -1)} (${proxy.variable})`];
  });
  if (proxies.length === 0)
    return skipped(name, "Requests go out directly. Set HTTPS_PROXY, HTTP_PROXY and NO_PROXY if they can't.");
  const { transcription, languageModel, signInProviders, s3Connection, modelMirror } = config;
  const servers = [
    transcription?.engine === "server" ? transcription.url : null,
    languageModel?.engine === "server" ? languageModel.url : null,
    ...signInProviders.map(({ issuer }) => issuer),
    s3Connection.endpoint,
    modelMirror,
  ].flatMap((url) => (url === null ? [] : [new URL(url)]));
  const direct = servers.filter((url) => proxyFor(url, env) === null).map(({ host }) => host);
  const except = direct.length === 0 ? "" : `, but directly to ${[...new Set(direct)].join(", ")}`;
  return passed(name, `Requests go out by ${proxies.join(" and ")}${except}.`);
}

async function checkSingleSignOn({ signInProviders, baseUrl }: Config): Promise<Check> {
  const name = "single sign-on";
  if (signInProviders.length === 0) return skipped(name, "No single sign-on provider is set up.");
  const remedy = `Correct the PARLEY_OIDC_ settings or the client at the provider, and check that this server can reach it.`;
  return tryCheck(name, remedy, async () => {
    const found = [];
    for (const provider of signInProviders)
      found.push(`${provider.issuer} responds, ${await checkProvider(provider, baseUrl)}.`);
    return passed(name, found.join(" "));
  });
}
