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
  format: formatter({ lineNumbers: false, origins: true }),
  orderBy: "message",
});
