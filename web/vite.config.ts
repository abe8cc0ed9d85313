import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

/**
 * Build settings for each HTML document listed in server/operations/web/build.ts. Nothing is inlined, because the content security
 * policy allows no inline scripts.
 */
export default defineConfig({
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
              test: /(?:web\/(?:common|api)\/.*\.tsx?|contract\/counted\.ts)$/,
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
