import type { Agent } from "undici";
import { createGuardedConnector, type GuardedConnectorOptions } from "./guarded-connect.ts";

/** An undici agent whose connections lead to allowed IP addresses only. */
export interface GuardedAgent {
  /** Loads undici with the first request: most servers send none. */
  open(): Promise<Agent>;
  /** Connections that are open or being opened. */
  connections(): number;
  /** Ends what is in flight and closes all connections. */
  close(): Promise<void>;
}

/** @param options for undici, besides those that all guarded requests share. */
export function createGuardedAgent(guard: GuardedConnectorOptions, options: Agent.Options): GuardedAgent {
  const connector = createGuardedConnector(guard);
  const create = async (): Promise<Agent> => {
    const undici = await import("undici");
    return new undici.Agent({
      connect: connector.connect,
      allowH2: false,
      pipelining: 1,
      maxHeaderSize: 16 * 1024,
      ...options,
    });
  };
  let agent: Promise<Agent> | undefined;
  return {
    open: () => {
      agent ??= create();
      return agent;
    },
    connections: connector.count,
    close: async () => {
      await Promise.all([agent?.then((opened) => opened.destroy()), connector.close()]);
    },
  };
}
