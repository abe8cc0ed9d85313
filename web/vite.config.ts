import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

/** Nothing is inlined into the document: its policy takes no inline script. */
export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  build: {
    // Browsers that know light-dark(), which the pages' colours are written with.
    target: ["chrome123", "edge123", "firefox120", "safari17.5"],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 800,
    emptyOutDir: true,
    rolldownOptions: {
      // Libraries mark modules for a server that renders React, which nothing here does.
      onLog: (level, log, handle) => (log.code === "MODULE_LEVEL_DIRECTIVE" ? undefined : handle(level, log)),
    },
  },
});
