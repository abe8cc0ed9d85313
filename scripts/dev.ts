import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { createServer, type Plugin } from "vite";
import { readableLine } from "./readable-log.ts";

/**
 * `npm run dev`: the server restarts when its code changes, the web app updates in the open page, and the browser sees
 * one origin. Vite listens on PARLEY_PORT and forwards to the server, on the next port, whatever is no file of the web
 * app; the server serves the app's documents, with its session, redirects and content security policy.
 */
const root = fileURLToPath(new URL("..", import.meta.url));
const web = join(root, "web");
const port = Number(process.env.PARLEY_PORT ?? 3000);
const inspectPort = Number(process.env.INSPECT_PORT ?? 9229);
const preamblePath = "/@dev-preamble.js";
/** Files that the browser asks for by their path in web/. */
const sourceTypes: ReadonlySet<string> = new Set([".ts", ".tsx", ".css", ".json", ".svg"]);

/** React refresh has to be set up before React loads, and the policy of the documents allows no inline script. */
const preamble: Plugin = {
  name: "parley-dev-preamble",
  configureServer: ({ middlewares }) => {
    middlewares.use(preamblePath, (_request, response) => {
      response.setHeader("content-type", "text/javascript");
      response.end(react.preambleCode.replace("__BASE__", "/"));
    });
  },
};

/** Whether Vite serves a path itself. */
function isVitePath(url: string): boolean {
  const { pathname } = new URL(url, "http://localhost");
  if (pathname.startsWith("/@")) return true;
  const path = decodeURIComponent(pathname);
  return path !== "/icon.svg" && sourceTypes.has(extname(path)) && existsSync(join(web, path));
}

/** Writes the documents as the server serves them in development: with Vite's client instead of built files. */
function writeDocuments(): string {
  const folder = join(root, "node_modules", ".cache", "dev-web");
  mkdirSync(join(folder, "assets"), { recursive: true });
  const head = [
    // Vite gives the nonce to the styles it inserts.
    '<meta property="csp-nonce" nonce="%nonce%" />',
    '<script type="module" src="/@vite/client"></script>',
    `<script type="module" src="${preamblePath}"></script>`,
  ].join("\n    ");
  for (const name of ["index.html", "public-link.html"]) {
    const document = readFileSync(join(web, name), "utf8");
    writeFileSync(join(folder, name), document.replace("</head>", `  ${head}\n  </head>`));
  }
  return folder;
}

const server = spawn(
  process.execPath,
  [
    "--watch",
    "--watch-preserve-output",
    `--inspect=127.0.0.1:${inspectPort}`,
    join(root, "cli", "main.ts"),
    "serve",
    "--web-folder",
    writeDocuments(),
  ],
  {
    cwd: root,
    env: {
      PARLEY_BASE_URL: `http://localhost:${port}`,
      ...process.env,
      PARLEY_HOST: "127.0.0.1",
      PARLEY_PORT: String(port + 1),
    },
    stdio: ["ignore", "inherit", "pipe"],
  },
);
createInterface({ input: server.stderr }).on("line", (line) => {
  const isTerminal = process.stderr.isTTY === true;
  process.stderr.write(`${isTerminal ? readableLine(line) : line}\n`);
});
const ended = once(server, "exit");

const vite = await createServer({
  configFile: join(web, "vite.config.ts"),
  plugins: [react(), preamble],
  appType: "custom",
  // Found beforehand, so that the first visit does not reload the page.
  optimizeDeps: { entries: ["main.tsx", "public-link/main.tsx"] },
  cacheDir: join(root, "node_modules", ".cache", "vite"),
  server: {
    host: process.env.PARLEY_HOST ?? "localhost",
    port,
    strictPort: true,
    fs: { allow: [root] },
    proxy: {
      "/": {
        target: `http://127.0.0.1:${port + 1}`,
        bypass: ({ url = "/" }) => (isVitePath(url) ? url : undefined),
        configure: (proxy) => {
          proxy.on("error", (_error, _request, response) => {
            if (!("writeHead" in response) || response.headersSent) return;
            response.writeHead(503, { "content-type": "text/plain", "retry-after": "1" });
            response.end("The server is starting or has stopped; see the terminal, then reload.\n");
          });
        },
      },
    },
  },
});
await vite.listen();
process.stderr.write(
  `development server: http://localhost:${port} (inspector on 127.0.0.1:${inspectPort}, Ctrl-C stops)\n`,
);

for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    server.kill("SIGTERM");
    void vite.close();
  });
await ended;
await vite.close();
