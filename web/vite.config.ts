import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

/**
 * How each document is built; server/web/build.ts says which there are. Nothing is inlined into a document: its policy takes no
 * inline script.
 */
export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  build: {
    // Browsers that know light-dark(), which the pages' colours are written with.
    target: ["chrome123", "edge123", "firefox120", "safari17.5"],
    assetsInlineLimit: 0,
    // Tells the server which files a page's code lies in.
    manifest: true,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 800,
    emptyOutDir: true,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // Left alone, each icon and each part of the library that two pages share is a file, and a request, of its own.
          groups: [
            { name: "icons", test: /@tabler/ },
            { name: "shared", test: /node_modules/, minShareCount: 8 },
            { name: "common", test: /web\/(?:common|api)\/.*\.tsx?$/, minShareCount: 5 },
          ],
        },
      },
      // Libraries mark modules for a server that renders React, which nothing here does.
      onLog: (level, log, handle) => (log.code === "MODULE_LEVEL_DIRECTIVE" ? undefined : handle(level, log)),
    },
  },
});
