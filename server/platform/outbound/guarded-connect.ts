import dns from "node:dns";
import net from "node:net";
import tls from "node:tls";
import type { buildConnector } from "undici";
import { type AddressRanges, isAllowedAddress } from "./address-ranges.ts";
import { ForbiddenAddressError, HookConnectError } from "./errors.ts";
import { skipInterim } from "./interim-responses.ts";

/** Resolves a host name to all its IP addresses. Rejects with the codes of `dns.lookup` (`ENOTFOUND`, `EAI_AGAIN`). */
export type HookLookup = (hostname: string) => Promise<readonly { address: string; family: number }[]>;

export interface GuardedConnectorOptions {
  readonly allowAddresses: AddressRanges;
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
 * still uses the name, for SNI and the certificate.
 */
export function createGuardedConnector(options: GuardedConnectorOptions): GuardedConnector {
  const { allowAddresses, timeoutMs, ca } = options;
  const lookup = coalesced(options.lookup ?? ((hostname) => dns.promises.lookup(hostname, { all: true })));
  const sockets = new Set<net.Socket>();
  let isClosed = false;
  let secureContext: tls.SecureContext | undefined;

  async function addressesOf(hostname: string): Promise<readonly { address: string; family: number }[]> {
    const family = net.isIP(hostname);
    const addresses = family === 0 ? await lookup(hostname) : [{ address: hostname, family }];
    if (addresses.length === 0) throw new HookConnectError(`the host name ${hostname} has no IP address`);
    // One private IP address among public ones is a trap or a mistake, and the socket might use it.
    for (const { address } of addresses) {
      if (!isAllowedAddress(address, allowAddresses)) throw notAllowed(address);
    }
    return addresses;
  }

  function open(
    target: buildConnector.Options,
    addresses: readonly { address: string; family: number }[],
  ): net.Socket {
    const common: net.TcpNetConnectOpts = {
      // A single IP address is passed itself, so that there is no second lookup. For several, the name is passed with a
      // lookup that returns only the checked ones, and Node tries one after the other (RFC 8305).
      host: addresses.length === 1 ? (addresses[0]?.address ?? "") : target.hostname,
      port: Number(target.port) || (target.protocol === "https:" ? 443 : 80),
      lookup: (_hostname, wanted, done) => {
        if (wanted.all) done(null, [...addresses]);
        else done(null, addresses[0]?.address ?? "", addresses[0]?.family);
      },
      autoSelectFamily: addresses.length > 1,
      // Node's default of 250 ms is too short for distant hosts.
      autoSelectFamilyAttemptTimeout: 2000,
      noDelay: true,
    };
    if (target.protocol !== "https:") return net.connect(common);
    // Created once: reading the trusted certificates takes longer than a handshake.
    secureContext ??= tls.createSecureContext(ca === undefined ? {} : { ca });
    const name = target.hostname.replace(/\.$/, "");
    return tls.connect({
      ...common,
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
    const timer = setTimeout(() => fail(new HookConnectError("the connection timed out")), timeoutMs);
    const start = (addresses: readonly { address: string; family: number }[]): void => {
      if (isOver) return;
      if (isClosed) {
        fail(new HookConnectError("the sender was closed"));
        return;
      }
      const made = open(target, addresses);
      socket = made;
      sockets.add(made);
      made.once("close", () => {
        sockets.delete(made);
        fail(new HookConnectError("the connection was closed before it was ready"));
      });
      // Stays after the socket is passed on: an error without a listener would end the process.
      made.on("error", fail);
      made.once("connect", () => {
        const remote = made.remoteAddress ?? "none";
        if (!isAllowedAddress(remote, allowAddresses)) fail(notAllowed(remote));
      });
      made.once(target.protocol === "https:" ? "secureConnect" : "connect", () => {
        if (isOver) return;
        isOver = true;
        clearTimeout(timer);
        skipInterim(made);
        callback(null, made);
      });
    };
    addressesOf(target.hostname).then(start, fail);
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

function notAllowed(address: string): ForbiddenAddressError {
  return new ForbiddenAddressError(
    `the IP address ${address} is not allowed: it is not public; the operator can allow it with PARLEY_HOOKS_ALLOW_ADDRESSES`,
  );
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
