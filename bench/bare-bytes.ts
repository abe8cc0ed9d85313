import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** What sending bytes costs at the very least: a `node:http` server with the body in memory. */
export interface BareBytesTask {
  readonly contentType: string;
  readonly base64: string;
}

process.on("message", ({ contentType, base64 }: BareBytesTask) => {
  const bytes = Buffer.from(base64, "base64");
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(200, { "content-type": contentType, "content-length": bytes.length });
      response.end(bytes);
    });
  });
  server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }));
});
process.on("disconnect", () => process.exit());
