import { readFileSync } from "node:fs";
import babelExtractor from "@lingui/cli/api/extractors/babel";
import { defineConfig } from "@lingui/conf";
import { formatter } from "@lingui/format-po";

/** Where `lingui extract` finds the texts of the web app and of the server, and where their translations are. */
export default defineConfig({
  sourceLocale: "en",
  locales: ["en", "de", "fr", "es", "ja"],
  catalogs: [
    { path: "web/locales/{locale}", include: ["web"], exclude: ["web/dist"] },
    {
      path: "server/platform/language/locales/{locale}",
      include: ["server"],
      exclude: ["**/*.test.ts", "**/test/**"],
    },
  ],
  // Parsing takes most of the time, and files without Lingui or an `i18n` have no texts.
  extractors: [
    {
      ...babelExtractor,
      match: (path) => babelExtractor.match(path) && /@lingui|i18n/.test(readFileSync(path, "utf8")),
    },
  ],
  format: formatter({ lineNumbers: false, origins: true }),
  orderBy: "message",
});
