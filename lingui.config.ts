import { defineConfig } from "@lingui/conf";
import { formatter } from "@lingui/format-po";

/** Where `lingui extract` finds the web app's texts, and where their translations are. */
export default defineConfig({
  sourceLocale: "en",
  locales: ["en"],
  catalogs: [{ path: "web/locales/{locale}", include: ["web"], exclude: ["web/dist"] }],
  format: formatter({ lineNumbers: false, origins: true }),
  orderBy: "message",
});
