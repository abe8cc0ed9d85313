import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { FastifyInstance, FastifyReply } from "fastify";
import { errorCatalogue } from "../../../../contract/errors.ts";
import type { Operation } from "../../../../contract/operation.ts";
import { isVersionName, type VersionName, versionNames, versions } from "../../../../contract/versions.ts";
import type { Config } from "../../config/config.ts";
import { ProblemError } from "../errors/problem.ts";
import { effectiveVersions } from "../routing/version-gate.ts";
import { migrationNotes } from "./migration-page.ts";

const require = createRequire(import.meta.url);

/** Scripts and styles come from this server alone. The viewer sets styles by script, which needs no 'unsafe-inline'. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * What developers read: the OpenAPI document of each version, the reference page made from it, the error catalogue
 * and the notes for moving between versions. Nothing on these pages is loaded from another host.
 */
export function referenceRoutes(
  app: FastifyInstance,
  operations: readonly Operation[],
  config: Pick<Config, "versionStatus">,
): void {
  const documents = new Map<string, string>();
  const readDocument = async (version: VersionName): Promise<string> => {
    const status = effectiveVersions(config.versionStatus).get(version)?.status;
    const key = `${version} ${status}`;
    const kept = documents.get(key);
    if (kept !== undefined) return kept;
    const { openApiDocument } = await import("./openapi.ts");
    const written = JSON.stringify(openApiDocument(version, operations, status));
    documents.set(key, written);
    return written;
  };

  app.get<{ Params: { file: string } }>("/openapi/:file", async (request, reply) => {
    const name = request.params.file.replace(/\.json$/, "");
    if (!isVersionName(name))
      throw new ProblemError(
        "not_found",
        `unknown version; see ${versionNames.map((v) => `/openapi/${v}.json`).join(" and ")}`,
      );
    return reply
      .type("application/json; charset=utf-8")
      .header("access-control-allow-origin", "*")
      .send(await readDocument(name));
  });

  const current = versions.find((version) => version.status === "current")?.name ?? versionNames[0];
  app.get("/docs", async (_request, reply) => sendPage(reply, referencePage(current)));
  for (const version of versionNames)
    app.get(`/docs/${version}`, async (_request, reply) => sendPage(reply, referencePage(version)));
  app.get("/docs/errors", async (_request, reply) => sendPage(reply, errorsPage()));
  app.get("/docs/migration", async (_request, reply) =>
    sendPage(
      reply,
      page("Moving between versions", migrationNotes(effectiveVersions(config.versionStatus), new Date())),
    ),
  );
  for (const [name, type] of Object.entries(viewerFiles)) {
    app.get(`/docs/assets/${name}`, async (_request, reply) =>
      reply
        .type(`${type}; charset=utf-8`)
        .header("cache-control", "public, max-age=86400")
        .send(await readFile(require.resolve(`swagger-ui-dist/${name}`))),
    );
  }
  app.get("/docs/assets/start.js", async (_request, reply) =>
    reply.type("text/javascript; charset=utf-8").send(startScript),
  );
  app.get("/docs/assets/docs.css", async (_request, reply) =>
    reply.type("text/css; charset=utf-8").send(styles),
  );
}

function sendPage(reply: FastifyReply, html: string): FastifyReply {
  return reply
    .type("text/html; charset=utf-8")
    .header("content-security-policy", contentSecurityPolicy)
    .send(html);
}

const styles = `:root { color-scheme: light dark; --ink: #1c2430; --paper: #fff; --line: #d8dee8; --link: #2456c8; --soft: #f4f6fa }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf2; --paper: #14181f; --line: #2c3442; --link: #8fb0ff; --soft: #1c222c } }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper) }
header { display: flex; flex-wrap: wrap; gap: 4px 20px; align-items: baseline; padding: 12px 20px; border-bottom: 1px solid var(--line) }
header strong { font-size: 18px }
a { color: var(--link) }
main { max-width: 900px; margin: 0 auto; padding: 12px 20px 60px }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: 8px 10px; border-bottom: 1px solid var(--line) }
tr:target { background: var(--soft) }
main pre { overflow-x: auto; padding: 12px; background: var(--soft) }
code { font-family: ui-monospace, monospace; font-size: 14px }
@media (prefers-color-scheme: dark) { #reference { filter: invert(0.9) hue-rotate(180deg) } }`;

/** The viewer's own files, from its package. */
const viewerFiles = { "swagger-ui.css": "text/css", "swagger-ui-bundle.js": "text/javascript" } as const;

/** Shows the document that the page names. */
const startScript = `const reference = document.getElementById("reference");
SwaggerUIBundle({
  url: reference.dataset.document,
  domNode: reference,
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  persistAuthorization: false,
});
`;

function page(title: string, body: string, scripts = ""): string {
  const links = versionNames.map((version) => `<a href="/docs/${version}">${version}</a>`).join("\n");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Parley</title>
<link rel="icon" type="image/svg+xml" href="/icon.svg">
<link rel="stylesheet" href="/docs/assets/docs.css">
${scripts}</head>
<body>
<header><strong>Parley API</strong>
${links}
<a href="/docs/errors">Errors</a>
<a href="/docs/migration">Moving between versions</a>
</header>
${body}
</body>
</html>`;
}

function referencePage(version: VersionName): string {
  return page(
    `API reference ${version}`,
    `<div id="reference" data-document="/openapi/${version}.json"></div>`,
    `<link rel="stylesheet" href="/docs/assets/swagger-ui.css">
<script defer src="/docs/assets/swagger-ui-bundle.js"></script>
<script defer src="/docs/assets/start.js"></script>
`,
  );
}

function errorsPage(): string {
  const rows = Object.entries(errorCatalogue)
    .map(
      ([code, { status, title }]) =>
        `<tr id="${code}"><td><code>${code}</code></td><td>${status}</td><td>${title}.</td></tr>`,
    )
    .join("\n");
  return page(
    "Errors",
    `<main><h1>Errors</h1>
<p>Every error is a problem document (RFC 9457, <code>application/problem+json</code>): <code>type</code>, <code>title</code>,
<code>status</code>, <code>detail</code>, the machine-readable code <code>error</code>, and the <code>request_id</code> that
identifies the request in the server's log. For invalid input, <code>violations</code> lists every problem with a JSON pointer.</p>
<table><thead><tr><th>Code</th><th>Status</th><th>Meaning</th></tr></thead><tbody>
${rows}
</tbody></table></main>`,
  );
}
