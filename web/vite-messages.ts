import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { type PluginItem, transformSync, types } from "@babel/core";
import macros from "@lingui/babel-plugin-lingui-macro";
import { makeConfig } from "@lingui/conf";
import { formatter } from "@lingui/format-po";
import { compileMessage } from "@lingui/message-utils/compileMessage";
import type { Plugin } from "vite";
import { pseudoTexts } from "../shared/pseudo-locales.ts";
import { compileSimple } from "./language/simple-text.ts";

const english = fileURLToPath(new URL("locales/en.po", import.meta.url));

/**
 * Compiles the English texts that Lingui's macros leave as `{ id: "yQE2r9", message: "Delete {title}" }` behind a comment. A
 * text without plurals or context is its own ID, which is shorter.
 */
const compileEnglish: PluginItem = {
  visitor: {
    ObjectExpression({ node }) {
      if (node.leadingComments?.some(({ value }) => value.trim() === "* i18n") !== true) return;
      const fields = node.properties.filter((field) => types.isObjectProperty(field));
      const field = (name: string) => fields.find(({ key }) => types.isIdentifier(key, { name }));
      const [id, message] = [field("id"), field("message")];
      if (id === undefined || !types.isStringLiteral(message?.value)) return;
      const text = message.value.value;
      const context = field("context");
      node.properties = node.properties.filter((each) => each !== context);
      if (context === undefined && isSimple(text)) {
        id.value = types.stringLiteral(text);
        node.properties = node.properties.filter((each) => each !== message);
      } else message.value = types.valueToNode(compileMessage(text));
    },
  },
};

/** Whether the browser can compile a text: it has no plurals or escaped characters. */
function isSimple(text: string): boolean {
  return isDeepStrictEqual(compileMessage(text), compileSimple(text));
}

/** Not lingui.config.ts: it needs Lingui's extractor, which isn't installed where the web app is only built. */
const linguiConfig = makeConfig({ locales: ["en"], sourceLocale: "en" });

/** Compiles the texts of a module. */
export function compileTexts(code: string, filename: string) {
  const result = transformSync(code, {
    filename,
    configFile: false,
    babelrc: false,
    sourceMaps: true,
    inputSourceMap: false,
    parserOpts: { plugins: ["typescript", "jsx"] },
    plugins: [[macros, { descriptorFields: "message", linguiConfig }], compileEnglish],
  });
  if (typeof result?.code !== "string") throw new Error(`the texts of ${filename} could not be compiled`);
  return { code: result.code, map: result.map };
}

/**
 * Compiles the texts of the web app. In the code, each becomes an ID with the compiled English text, so that English needs
 * no catalog and the browser no compiler; a catalog of `locales/` becomes compiled texts by ID.
 * Source: https://lingui.dev/ref/macro
 */
export const messages: Plugin = {
  name: "messages",
  enforce: "pre",
  transform: {
    filter: { code: /@lingui\/(?:core|react)\/macro/ },
    handler(code, id) {
      return compileTexts(code, id);
    },
  },
  resolveId: { filter: { id: /^virtual:pseudo\// }, handler: (id) => id },
  load: {
    filter: { id: /\.po$|^virtual:pseudo\// },
    async handler(id) {
      const pseudo = pseudoTexts[basename(id)];
      const catalog = await readCatalog(pseudo === undefined ? id : english);
      // What isn't translated yet is shown in English.
      const compiled = Object.entries(catalog).flatMap(
        ([key, { message = "", context, translation = "" }]) =>
          pseudo === undefined && translation === ""
            ? []
            : [
                [
                  context === undefined && isSimple(message) ? message : key,
                  pseudo === undefined ? compileMessage(translation) : compileMessage(message, pseudo),
                ],
              ],
      );
      return {
        code: `export const messages = ${JSON.stringify(Object.fromEntries(compiled))};`,
        moduleType: "js",
      };
    },
  },
};

/** The texts of a catalog by ID. */
async function readCatalog(path: string) {
  const context = { locale: undefined, sourceLocale: "en", filename: path };
  return formatter().parse(await readFile(path, "utf8"), context);
}
