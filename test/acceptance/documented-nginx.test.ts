import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:http2";
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
