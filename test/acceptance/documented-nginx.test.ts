import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import tls from "node:tls";
import { startDocumentedNginx } from "../support/nginx.ts";
import { freePort } from "../support/port.ts";
import { skipWithout } from "../support/programs.ts";
import { prepareServer } from "../support/server-process.ts";

test("the documented configuration of nginx serves Parley over TLS and HTTP/2", {
  skip: skipWithout("nginx", "openssl"),
}, async () => {
  const name = "parley.example.com";
  const folder = mkdtempSync(join(tmpdir(), "parley-certificate-"));
  const certificate = { path: join(folder, "fullchain.pem"), keyPath: join(folder, "privkey.pem") };
  const server = await prepareServer({
    env: { PARLEY_BASE_URL: `https://${name}`, PARLEY_TRUSTED_PROXIES: "127.0.0.1", PARLEY_DRAIN: "0s" },
  });
  after(async () => {
    await server.dispose();
    rmSync(folder, { recursive: true, force: true });
  });
  const words = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=${name}`;
  const names = ["-addext", `subjectAltName=DNS:${name}`];
  const files = ["-out", certificate.path, "-keyout", certificate.keyPath];
  execFileSync("openssl", [...words.split(" "), ...names, ...files], { stdio: "ignore" });
  await server.start();
  const port = await freePort();
  const { PARLEY_PORT = "" } = server.env;
  await startDocumentedNginx(port, [PARLEY_PORT, String(await freePort())], certificate);

  const session = connect(`https://${name}`, {
    createConnection: () =>
      tls.connect({
        host: "127.0.0.1",
        port,
        servername: name,
        ALPNProtocols: ["h2"],
        ca: readFileSync(certificate.path),
      }),
  });
  after(() => session.close());
  const request = session.request({ ":path": "/sign-in" });
  const [[headers], page] = await Promise.all([once(request, "response"), text(request)]);
  assert.equal(headers[":status"], 200, page);
  assert.match(headers["strict-transport-security"], /max-age/);
});

test("with the documented configuration of nginx, responses with 503 for files cost no other request", {
  skip: skipWithout("nginx"),
}, async () => {
  // Two processes whose file store is down: what Parley returns then, without an S3 server that could be stopped.
  const ports: string[] = [];
  for (let index = 0; index < 2; index += 1) {
    const process = createServer((request, response) => {
      response.statusCode = request.url?.startsWith("/_/media/") ? 503 : 200;
      response.end();
    }).listen(0, "127.0.0.1");
    after(() => process.close());
    await once(process, "listening");
    ports.push(String((process.address() as AddressInfo).port));
  }
  const port = await freePort();
  await startDocumentedNginx(port, [ports[0] ?? "", ports[1] ?? ""]);
  const statusOf = async (path: string, method: string): Promise<number> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method });
    await response.text();
    return response.status;
  };
  for (let round = 0; round < 20; round += 1) {
    assert.equal(await statusOf("/_/media/recordings/x/media.mp4", "GET"), 503);
    assert.equal(await statusOf("/_/public-api/v2/recordings", "POST"), 200);
  }
});
