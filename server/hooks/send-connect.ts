import dns from "node:dns";
import net from "node:net";
import tls from "node:tls";
import type { buildConnector } from "undici";
import { type AddressRanges, isAllowedAddress } from "./addresses.ts";
import { HookConnectError } from "./send-errors.ts";

/** Finds all addresses of a name. Rejects with the codes of `dns.lookup` (`ENOTFOUND`, `EAI_AGAIN`). */
export type HookLookup = (hostname: string) => Promise<readonly { address: string; family: number }[]>;

export interface GuardedConnectorOptions {
  readonly allowAddresses: AddressRanges;
  /** Longest time for lookup, connection and TLS together. */
  readonly timeoutMs: number;
  /** Certificates to trust in place of the usual ones, as PEM. */
  readonly ca?: string | undefined;
  readonly lookup?: HookLookup | undefined;
}

export interface GuardedConnector {
  /** For undici. Its callback gets a socket that is connected to an allowed address, or an error. */
  readonly connect: buildConnector.connector;
  /** Connections that are open or being made. */
  count(): number;
  /** Ends them all, and makes no more. Resolves when none is left. */
  close(): Promise<void>;
}

/**
 * Makes connections to allowed addresses only. It is here and not before the request that the address is decided:
 * a name looked up twice may lead to two places (DNS rebinding). So the addresses of one lookup are checked, and the
 * socket gets these very addresses instead of the name. A literal address passes the same check; undici hands it over
 * as the WHATWG parser wrote it, whatever the notation was. TLS still speaks to the name: SNI and certificate.
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
    if (addresses.length === 0) throw new HookConnectError(`the name ${hostname} has no address`);
    // One private address among public ones is a trap or a mistake; which one the socket takes is up to chance.
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
      // Named by its address where there is one alone, so that no lookup can come between; else by its name, with a
      // lookup that knows nothing but what was checked (then Node tries one after the other, RFC 8305).
      host: addresses.length === 1 ? (addresses[0]?.address ?? "") : target.hostname,
      port: Number(target.port) || (target.protocol === "https:" ? 443 : 80),
      lookup: (_hostname, wanted, done) => {
        if (wanted.all) done(null, [...addresses]);
        else done(null, addresses[0]?.address ?? "", addresses[0]?.family);
      },
      autoSelectFamily: addresses.length > 1,
      // Node's 250 ms give up on hosts that are merely far away.
      autoSelectFamilyAttemptTimeout: 2000,
      noDelay: true,
    };
    if (target.protocol !== "https:") return net.connect(common);
    // Made once: reading the trusted certificates takes longer than a handshake.
    secureContext ??= tls.createSecureContext(ca === undefined ? {} : { ca });
    const name = target.hostname.replace(/\.$/, "");
    return tls.connect({
      ...common,
      secureContext,
      // RFC 6066: no SNI for an address.
      servername: net.isIP(name) === 0 ? name : "",
      checkServerIdentity: (_name, certificate) => tls.checkServerIdentity(name, certificate),
      ALPNProtocols: ["http/1.1"],
      // Also where NODE_TLS_REJECT_UNAUTHORIZED says otherwise.
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
    const timer = setTimeout(() => fail(new HookConnectError("the connection took too long")), timeoutMs);
    const start = (addresses: readonly { address: string; family: number }[]): void => {
      if (isOver) return;
      if (isClosed) {
        fail(new HookConnectError("no more connections are made"));
        return;
      }
      const made = open(target, addresses);
      socket = made;
      sockets.add(made);
      made.once("close", () => {
        sockets.delete(made);
        fail(new HookConnectError("the connection was closed before it was ready"));
      });
      // Stays after the socket is handed over: an error without a listener would end the process.
      made.on("error", fail);
      made.once("connect", () => {
        const remote = made.remoteAddress ?? "none";
        if (!isAllowedAddress(remote, allowAddresses)) fail(notAllowed(remote));
      });
      made.once(target.protocol === "https:" ? "secureConnect" : "connect", () => {
        if (isOver) return;
        isOver = true;
        clearTimeout(timer);
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

function notAllowed(address: string): HookConnectError {
  return new HookConnectError(`the address ${address} is not allowed`);
}

/** Many connections to one name at once take one lookup: each holds one of Node's four threads until it ends. */
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
