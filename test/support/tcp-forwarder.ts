import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { after } from "node:test";

/** A port that leads to another, as the virtual IP address of a database cluster leads to its primary. */
export interface TcpForwarder {
  readonly port: number;
  /** Cuts all connections; new ones lead to the given port. */
  moveTo(port: number): void;
  /** Passes nothing on any more, as if the host had vanished. */
  silence(): void;
}

/** Starts a forwarder on the loopback interface, until the end of the test file. */
export async function startTcpForwarder(firstTarget: number): Promise<TcpForwarder> {
  let target = firstTarget;
  let isSilent = false;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    if (isSilent) {
      open.add(client.on("error", () => {}));
      return;
    }
    const upstream = connect(target, "127.0.0.1");
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from);
      from.pipe(to);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        open.delete(from);
        to.destroy();
      });
    }
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  after(() => {
    cut();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    silence() {
      isSilent = true;
      for (const socket of open) socket.unpipe().pause();
    },
    moveTo(port) {
      isSilent = false;
      target = port;
      cut();
    },
  };
}
