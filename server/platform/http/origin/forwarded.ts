import { isIP } from "node:net";
import type { FastifyInstance } from "fastify";
import type { Config } from "../../config/config.ts";

const headerName = "x-forwarded-for";

/**
 * Normalizes `X-Forwarded-For` for trusted proxies, and logs once when a proxy seems to be there that is not trusted, because
 * all users would then count as one IP address.
 */
export function readForwardedAddresses(app: FastifyInstance, config: Pick<Config, "trustedProxies">): void {
  const isTrusting = config.trustedProxies.length > 0;
  let isWarned = false;
  app.addHook("onRequest", async (request) => {
    const { headers } = request.raw;
    const given = headers[headerName];
    if (given === undefined) return;
    if (isTrusting) {
      const addresses = validAddresses(String(given));
      if (addresses.length > 0) headers[headerName] = addresses.join(", ");
      else delete headers[headerName];
    } else if (!isWarned) {
      isWarned = true;
      request.log.warn(
        "a request has X-Forwarded-For, but no proxy is trusted; if a proxy is in front, set PARLEY_TRUSTED_PROXIES, or all users count as one IP address",
      );
    }
  });
}

/**
 * The header's IP addresses without ports, from the nearest proxy up to the first invalid entry. Entries beyond it can't be
 * trusted.
 */
export function validAddresses(header: string): string[] {
  const good: string[] = [];
  for (const entry of header.split(",").reverse()) {
    const address = withoutPort(entry.trim());
    if (isIP(address) === 0) break;
    good.push(address);
  }
  return good.reverse();
}

/** Removes the port that some proxies add: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  const [, inBrackets, plain] = /^(?:\[([^\]]+)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(entry) ?? [];
  return inBrackets ?? plain ?? entry;
}
