import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { until } from "./until.ts";

/**
 * Starts nginx in front of a server for the calling test file, with nginx's defaults: it refuses bodies over 1 MiB.
 * @param port where nginx listens.
 * @param serverUrl where the server listens.
 */
export async function startNginx(port: number, serverUrl: string): Promise<void> {
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
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass ${serverUrl};
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto $scheme;
    }
  }
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
    return (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.status === 200;
  });
}
