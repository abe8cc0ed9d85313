import { createServer, request as forward } from "node:http";
import type { AddressInfo } from "node:net";
import { after } from "node:test";

/** What goes wrong, how often. */
interface Failures {
  /** 429 with Retry-After. */
  readonly limits?: number;
  /** 502. */
  readonly errors?: number;
  /** Responses whose body ends early. */
  readonly brokenBodies?: number;
  /** No response until the next call of `fail`. */
  readonly hang?: boolean;
}

/** A proxy in front of a server that limits, fails and breaks requests before it serves them. */
export async function startFlakyProxy(target: string): Promise<{
  readonly url: string;
  /** Requests that came again after the time that Retry-After named. */
  readonly waited: number;
  fail(failures: Failures): void;
}> {
  let left = { limits: 0, errors: 0, brokenBodies: 0, hang: false };
  let waited = 0;
  let limitedAt: number | null = null;
  const held: (() => void)[] = [];
  const server = createServer((request, response) => {
    const serve = (): void => {
      if (limitedAt !== null && performance.now() - limitedAt >= 990) waited += 1;
      limitedAt = null;
      if (left.limits > 0) {
        left.limits -= 1;
        limitedAt = performance.now();
        response.writeHead(429, { "retry-after": "1" }).end();
        return;
      }
      if (left.errors > 0) {
        left.errors -= 1;
        response.writeHead(502).end("bad gateway");
        return;
      }
      const { host: _, ...headers } = request.headers;
      const sent = forward(
        `${target}${request.url}`,
        { method: request.method ?? "GET", headers },
        (answer) => {
          const isMedia = /^(video|audio)\//.test(answer.headers["content-type"] ?? "");
          const location = answer.headers.location?.replace(target, url);
          response.writeHead(answer.statusCode ?? 500, {
            ...answer.headers,
            ...(location === undefined ? {} : { location }),
          });
          if (isMedia && left.brokenBodies > 0) {
            left.brokenBodies -= 1;
            answer.once("data", (chunk: Buffer) => {
              response.write(chunk.subarray(0, chunk.length >> 1));
              setImmediate(() => response.destroy());
              answer.destroy();
            });
            return;
          }
          answer.pipe(response);
        },
      );
      sent.on("error", () => response.destroy());
      request.pipe(sent);
    };
    if (left.hang) held.push(serve);
    else serve();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url,
    get waited() {
      return waited;
    },
    fail(failures) {
      left = { limits: 0, errors: 0, brokenBodies: 0, hang: false, ...failures };
      for (const serve of held.splice(0)) serve();
    },
  };
}
