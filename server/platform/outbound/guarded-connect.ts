import dns from "node:dns";
import net from "node:net";
import tls from "node:tls";
import type { buildConnector } from "undici";
import { sentenceOf, sentences } from "../../../contract/sentences.ts";
import { type AddressRanges, isAllowedAddress } from "./address-ranges.ts";
import { describeNetworkError, ForbiddenAddressError, HookConnectError } from "./errors.ts";
import { skipInterim } from "./interim-responses.ts";
import { proxyAuthorization, proxyFor } from "./proxy.ts";

/** Resolves a host name to all its IP addresses. Rejects with the codes of `dns.lookup` (`ENOTFOUND`, `EAI_AGAIN`). */
export type HookLookup = (hostname: string) => Promise<readonly { address: string; family: number }[]>;

export interface GuardedConnectorOptions {
  /** A function: as they are at the time of each connection. */
  readonly allowAddresses: AddressRanges | (() => AddressRanges);
  /** For lookup, connection and TLS together. */
  readonly timeoutMs: number;
  /** Certificates to trust in place of the usual ones, as PEM. */
  readonly ca?: string | undefined;
  readonly lookup?: HookLookup | undefined;
}

export interface GuardedConnector {
  /** For undici. Its callback gets a socket that is connected to an allowed IP address, or an error. */
  readonly connect: buildConnector.connector;
  /** Connections that are open or being opened. */
  count(): number;
  /** Closes all connections and opens no more. Resolves when none is left. */
  close(): Promise<void>;
}

/**
 * Opens connections to allowed IP addresses only. The check is here and not before the request, because a host name that is
 * resolved twice may give two results (DNS rebinding): the IP addresses of one lookup are checked, and the socket gets these
 * instead of the name. A literal IP address passes the same check; undici passes it as the WHATWG parser normalized it. TLS
 * still uses the name, for SNI and the certificate. Where the environment names a proxy, it is asked for a tunnel to the
 * checked IP address, for the same reason.
 */
export function createGuardedConnector(options: GuardedConnectorOptions): GuardedConnector {
  const { timeoutMs, ca } = options;
  const isAllowed = (address: string): boolean => {
    const ranges = options.allowAddresses;
    return isAllowedAddress(address, typeof ranges === "function" ? ranges() : ranges);
  };
  const lookup = coalesced(options.lookup ?? ((hostname) => dns.promises.lookup(hostname, { all: true })));
  const sockets = new Set<net.Socket>();
  let isClosed = false;
  let secureContext: tls.SecureContext | undefined;

  async function addressesOf(hostname: string): Promise<readonly { address: string; family: number }[]> {
    const family = net.isIP(hostname);
    const addresses = family === 0 ? await lookup(hostname) : [{ address: hostname, family }];
    if (addresses.length === 0) throw new HookConnectError(sentenceOf("net_no_address", { host: hostname }));
    // One private IP address among public ones is a trap or a mistake, and the socket might use it.
    for (const { address } of addresses) {
      if (!isAllowed(address)) throw notAllowed(address);
    }
    return addresses;
  }

  function open(
    target: buildConnector.Options,
    addresses: readonly { address: string; family: number }[],
    tunnel: net.Socket | null,
  ): net.Socket {
    const common: net.TcpNetConnectOpts = {
      // A single IP address is passed itself, so that there is no second lookup. For several, the name is passed with a
      // lookup that returns only the checked ones, and Node tries one after the other (RFC 8305).
      host: addresses.length === 1 ? (addresses[0]?.address ?? "") : target.hostname,
      port: portOf(target),
      lookup: (_hostname, wanted, done) => {
        if (wanted.all) done(null, [...addresses]);
        else done(null, addresses[0]?.address ?? "", addresses[0]?.family);
      },
      autoSelectFamily: addresses.length > 1,
      // Node's default of 250 ms is too short for distant hosts.
      autoSelectFamilyAttemptTimeout: 2000,
      noDelay: true,
    };
    if (target.protocol !== "https:") return tunnel ?? net.connect(common);
    // Created once: reading the trusted certificates takes longer than a handshake.
    secureContext ??= tls.createSecureContext(ca === undefined ? {} : { ca });
    const name = target.hostname.replace(/\.$/, "");
    return tls.connect({
      ...(tunnel === null ? common : { socket: tunnel }),
      secureContext,
      // RFC 6066: no SNI for an IP address.
      servername: net.isIP(name) === 0 ? name : "",
      checkServerIdentity: (_name, certificate) => tls.checkServerIdentity(name, certificate),
      ALPNProtocols: ["http/1.1"],
      // Even if NODE_TLS_REJECT_UNAUTHORIZED is 0.
      rejectUnauthorized: true,
    });
  }

  function connect(target: buildConnector.Options, callback: buildConnector.Callback): void {
    let socket: net.Socket | undefined;
    let isOver = false;
    const fail = (error: Error): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      socket?.destroy();
      callback(error, null);
    };
    const timer = setTimeout(() => fail(new HookConnectError(sentences.net_timeout)), timeoutMs);
    const start = async (addresses: readonly { address: string; family: number }[]): Promise<void> => {
      const proxy = isOver || isClosed ? null : proxyFor(urlOf(target));
      const tunnel = proxy === null ? null : await openTunnel(proxy, target, addresses, timeoutMs);
      if (isOver || isClosed) {
        tunnel?.destroy();
        fail(new HookConnectError(sentences.net_stopped));
        return;
      }
      const made = open(target, addresses, tunnel);
      socket = made;
      sockets.add(made);
      made.once("close", () => {
        sockets.delete(made);
        fail(new HookConnectError(sentences.net_not_ready));
      });
      // Stays after the socket is passed on: an error without a listener would end the process.
      made.on("error", fail);
      if (tunnel === null)
        made.once("connect", () => {
          const remote = made.remoteAddress ?? "none";
          if (!isAllowed(remote)) fail(notAllowed(remote));
        });
      const succeed = (): void => {
        if (isOver) return;
        isOver = true;
        clearTimeout(timer);
        skipInterim(made);
        callback(null, made);
      };
      if (made === tunnel) succeed();
      else made.once(target.protocol === "https:" ? "secureConnect" : "connect", succeed);
    };
    addressesOf(target.hostname).then(start).catch(fail);
  }

  return {
    connect,
    count: () => sockets.size,
    close: async () => {
      isClosed = true;
      const ends = [...sockets].map(
        (socket) => new Promise((resolve) => socket.once("close", resolve).destroy()),
      );
      await Promise.all(ends);
    },
  };
}

function portOf({ port, protocol }: buildConnector.Options): number {
  return Number(port) || (protocol === "https:" ? 443 : 80);
}

function urlOf(target: buildConnector.Options) {
  return { protocol: target.protocol, hostname: target.hostname, port: String(portOf(target)) };
}

/** Asks a proxy for a connection to one of the IP addresses. @throws HookConnectError */
async function openTunnel(
  proxy: URL,
  target: buildConnector.Options,
  addresses: readonly { address: string; family: number }[],
  timeoutMs: number,
): Promise<net.Socket> {
  // Many proxies reach no IPv6.
  const { address, family } = addresses.find((one) => one.family === 4) ?? addresses[0] ?? { address: "" };
  const path = `${family === 6 ? `[${address}]` : address}:${portOf(target)}`;
  const { Client } = await import("undici");
  const client = new Client(proxy.origin, { connectTimeout: timeoutMs });
  try {
    const { statusCode, socket } = await client.connect({
      path,
      headers: { host: path, ...proxyAuthorization(proxy) },
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (statusCode >= 200 && statusCode < 300) return socket as net.Socket;
    socket.destroy();
    throw new HookConnectError(sentenceOf("net_proxy_refused", { status: statusCode }));
  } catch (error) {
    if (error instanceof HookConnectError) throw error;
    throw new HookConnectError(sentenceOf("net_proxy", { reason: describeNetworkError(error as Error) }));
  } finally {
    client.close().catch(() => undefined);
  }
}

function notAllowed(address: string): ForbiddenAddressError {
  return new ForbiddenAddressError(sentenceOf("net_not_public", { address }));
}

/** Concurrent connections to one host name share a lookup, which holds one of Node's four threads until it ends. */
function coalesced(lookup: HookLookup): HookLookup {
  const running = new Map<string, ReturnType<HookLookup>>();
  return (hostname) => {
    const known = running.get(hostname);
    if (known !== undefined) return known;
    const started = lookup(hostname).finally(() => running.delete(hostname));
    running.set(hostname, started);
    return started;
  };
}
