import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { i18n } from "@lingui/core";
import { compileSimple } from "../../web/language/simple-text.ts";

// By its URL: the compiler that the web app is built with has no types.
const compiler = new URL("../../web/vite-messages.ts", import.meta.url).href;
const { compileTexts }: { compileTexts: (code: string, filename: string) => { readonly code: string } } =
  await import(compiler);

// Lets a test import modules of web/ by `import()` after this one: their texts are compiled as in the web app, and in English.
registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const code = String(loaded.source);
    if (!url.includes("/web/") || !code.includes("@lingui/core/macro")) return loaded;
    return { ...loaded, source: compileTexts(code, fileURLToPath(url)).code };
  },
});

i18n.setMessagesCompiler(compileSimple);
i18n.loadAndActivate({ locale: "en", messages: {} });
