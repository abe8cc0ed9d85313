import { fileURLToPath, pathToFileURL } from "node:url";
import { defineConfig, type Plugin } from "vite";
import type { Operation } from "../contract/operation.ts";
import { messages } from "./vite-messages.ts";

const contract = fileURLToPath(new URL("../contract/", import.meta.url));

/**
 * In the browser an operation of contract/ is its method and path, and a module with operations exports nothing else: with
 * their schemas, each page would load zod. The types are those of the whole operations.
 */
const operationsOnly: Plugin = {
  name: "operations-only",
  enforce: "pre",
  async load(id) {
    if (!id.startsWith(contract)) return null;
    const exported = Object.entries<unknown>(await import(pathToFileURL(id).href));
    const operations = exported.flatMap(([name, value]) => {
      const found = methodsAndPaths(value);
      return found === null ? [] : `export const ${name} = ${JSON.stringify(found)};`;
    });
    return operations.length === 0 ? null : { code: operations.join("\n"), moduleSideEffects: false };
  },
};

/** What the browser gets of an operation, or of operations by name; null for anything else. */
function methodsAndPaths(value: unknown): object | null {
  if (typeof value !== "object" || value === null) return null;
  if (isOperation(value)) return { method: value.method, path: value.path };
  const byName = Object.entries(value);
  if (byName.length === 0 || !byName.every(([, each]) => isOperation(each))) return null;
  return Object.fromEntries(byName.map(([name, each]) => [name, methodsAndPaths(each)]));
}

function isOperation(value: unknown): value is Operation {
  return (
    typeof value === "object" && value !== null && "method" in value && "path" in value && "gate" in value
  );
}

/**
 * Build settings for each HTML document listed in server/operations/web/build.ts. Nothing is inlined, because the content security
 * policy allows no inline scripts.
 */
export default defineConfig({
  plugins: [operationsOnly, messages],
  root: fileURLToPath(new URL(".", import.meta.url)),
  build: {
    // The oldest browsers that support light-dark(), which the styles use.
    target: ["chrome123", "edge123", "firefox120", "safari17.5"],
    assetsInlineLimit: 0,
    // The server reads it to preload a page's files.
    manifest: true,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 800,
    emptyOutDir: true,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // By default each icon and each module that two pages share would become its own file and request.
          groups: [
            { name: "icons", test: /@tabler/, minShareCount: 2 },
            { name: "shared", test: /node_modules/, minShareCount: 12 },
            {
              name: "common",
              // Not the filters of lists: they bring a calendar, which most pages don't show.
              test: /web\/(?:common(?!\/lists\/filters\.tsx)|api)\/.*\.tsx?$/,
              minShareCount: 5,
            },
          ],
        },
      },
      // "use client" directives in libraries don't matter here.
      onLog: (level, log, handle) => (log.code === "MODULE_LEVEL_DIRECTIVE" ? undefined : handle(level, log)),
    },
  },
});
