import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { until } from "./until.ts";

/**
 * Starts nginx in front of a server for the calling test file, with nginx's defaults: it refuses bodies over 1 MiB.
 * @param port where nginx listens.
 * @param serverUrl where the server listens.
 * @param maxBody the largest body, as nginx writes it.
 */
export function startNginx(port: number, serverUrl: string, maxBody = "1m"): Promise<void> {
  return run(
    port,
    `server {
    listen 127.0.0.1:${port};
    client_max_body_size ${maxBody};
    location / {
      proxy_pass ${serverUrl};
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto $scheme;
    }
  }`,
  );
}

/**
 * The same in front of two servers, as docs/operations/internet.md configures it.
 * @param serverPorts where the servers listen.
 * @param certificate files of a certificate and its key; null: without TLS.
 */
export function startDocumentedNginx(
  port: number,
  serverPorts: readonly [string, string],
  certificate: { readonly path: string; readonly keyPath: string } | null = null,
): Promise<void> {
  const docs = readFileSync(new URL("../../docs/operations/internet.md", import.meta.url), "utf8");
  const documented = /\nnginx:\n\n```\n([^`]*)```/.exec(docs)?.[1];
  if (documented === undefined) throw new Error("docs/operations/internet.md has no configuration of nginx");
  const folder = "/etc/letsencrypt/live/parley.example.com";
  const config = documented
    // Both at once: the first one's port may begin with 3001.
    .replaceAll(/(?<=127\.0\.0\.1:)300[01]\b/g, (port) => serverPorts[port === "3000" ? 0 : 1])
    .replace("listen 443 ", `listen 127.0.0.1:${port} `);
  if (certificate !== null)
    return run(
      port,
      config
        .replace(`${folder}/fullchain.pem`, certificate.path)
        .replace(`${folder}/privkey.pem`, certificate.keyPath),
      () => isListening(port),
    );
  const withoutTls = config.replace(/(listen \S+) ssl[^;]*;/, "$1;");
  return run(port, withoutTls.replaceAll(/^ *(server_name|ssl_certificate\S*) .*\n/gm, ""));
}

/** @param isReady by default, whether a server behind it is ready: nginx avoids one that was not for ten seconds. */
async function run(port: number, config: string, isReady = () => isServing(port)): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "parley-nginx-"));
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off;
master_process off;
pid ${join(folder, "nginx.pid")};
events {}
http {
  access_log off;
  ${temporary.join("\n  ")}
  ${config}
}
`,
  );
  const child = spawn("nginx", ["-p", folder, "-c", join(folder, "nginx.conf"), "-e", "stderr"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const ended = once(child, "exit");
  after(async () => {
    child.kill("SIGTERM");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  await until("nginx serves", async () => {
    if (child.exitCode !== null) throw new Error(`nginx exited: ${output}`);
    return isReady();
  });
}

async function isServing(port: number): Promise<boolean> {
  return (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.status === 200;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    }).on("error", () => resolve(false));
  });
}
