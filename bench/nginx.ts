import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { skipWithout } from "../test/support/programs.ts";
import { freePort } from "./servers.ts";

/** The baseline of files that come and go. */
export interface Nginx {
  readonly url: string;
  /** What it serves, and where it puts what it is sent. */
  readonly root: string;
  stop(): Promise<void>;
}

/**
 * Starts nginx with its own settings: files by sendfile, PUT by its WebDAV module, and what is sent kept on the file
 * system of its target, so that it is moved and not copied.
 * @param folder where it keeps everything.
 * @returns the reason, where nginx is not on the path or does not start.
 */
export async function startNginx(folder: string): Promise<Nginx | string> {
  const reason = skipWithout("nginx");
  if (reason !== false) return reason;
  const root = join(folder, "root");
  mkdirSync(root, { recursive: true });
  const port = await freePort();
  const log = join(folder, "error.log");
  const settings = join(folder, "nginx.conf");
  const kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  writeFileSync(
    settings,
    `daemon off; worker_processes auto; pid ${folder}/pid; error_log ${log};
     ${process.getuid?.() === 0 ? "user root;" : ""}
     events {}
     http {
       access_log off; sendfile on; tcp_nopush on; client_max_body_size 0;
       ${kinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(" ")}
       server { listen 127.0.0.1:${port}; root ${root}; dav_methods PUT; create_full_put_path on; }
     }`,
  );
  const child = spawn("nginx", ["-p", folder, "-e", log, "-c", settings], { stdio: "ignore" });
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  const url = `http://127.0.0.1:${port}`;
  for (const end = performance.now() + 10_000; performance.now() < end; await delay(10)) {
    if (child.exitCode !== null || child.pid === undefined) break;
    const answer = await fetch(url).catch(() => null);
    await answer?.arrayBuffer();
    if (answer === null) continue;
    return {
      url,
      root,
      async stop() {
        child.kill("SIGTERM");
        await ended;
      },
    };
  }
  child.kill("SIGTERM");
  const lastLine = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n").at(-1) : "";
  return `nginx did not start: ${lastLine}`;
}
