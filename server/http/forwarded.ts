import { isIP } from "node:net";
import type { FastifyInstance } from "fastify";
import type { Config } from "../config.ts";

const headerName = "x-forwarded-for";

/**
 * Makes `X-Forwarded-For` fit to be believed where a proxy is trusted, and says once in the log when a proxy seems to be
 * there that is not: everybody would count as one address then.
 */
export function readForwardedAddresses(app: FastifyInstance, config: Pick<Config, "trustedProxies">): void {
  const isTrusting = config.trustedProxies.length > 0;
  let isWarned = false;
  app.addHook("onRequest", async (request) => {
    const { headers } = request.raw;
    const given = headers[headerName];
    if (given === undefined) return;
    if (isTrusting) {
      const addresses = goodAddresses(String(given));
      if (addresses.length > 0) headers[headerName] = addresses.join(", ");
      else delete headers[headerName];
    } else if (!isWarned) {
      isWarned = true;
      request.log.warn(
        "a request came with X-Forwarded-For, but no proxy is trusted: if there is one in front, name it in PARLEY_TRUSTED_PROXIES, or all people count as one address",
      );
    }
  });
}

/**
 * The addresses of the header without their ports, from the nearest proxy up to the first entry that is none: what is
 * beyond it can't be placed, and no text of a client's making becomes an address.
 */
export function goodAddresses(header: string): string[] {
  const good: string[] = [];
  for (const entry of header.split(",").reverse()) {
    const address = withoutPort(entry.trim());
    if (isIP(address) === 0) break;
    good.unshift(address);
  }
  return good;
}

/** `192.0.2.1:4711` and `[2001:db8::1]:4711`, as some proxies write. */
function withoutPort(entry: string): string {
  const [, inBrackets, plain] = /^(?:\[([^\]]+)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(entry) ?? [];
  return inBrackets ?? plain ?? entry;
}
