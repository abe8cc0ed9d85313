import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { type PluginItem, transformAsync, types } from "@babel/core";
import macros from "@lingui/babel-plugin-lingui-macro";
import { formatter } from "@lingui/format-po";
import { compileMessage } from "@lingui/message-utils/compileMessage";
import type { Plugin } from "vite";
import { pseudoTexts } from "../shared/pseudo-locales.ts";

const english = fileURLToPath(new URL("locales/en.po", import.meta.url));

/** Compiles the English texts that Lingui's macros leave as `{ id, message: "Delete {title}" }` behind a comment. */
const compileEnglish: PluginItem = {
  visitor: {
    Program: {
      exit(program) {
        program.traverse({
          ObjectExpression({ node }) {
            if (node.leadingComments?.some(({ value }) => value.trim() === "* i18n") !== true) return;
            for (const field of node.properties)
              if (
                types.isObjectProperty(field) &&
                types.isIdentifier(field.key, { name: "message" }) &&
                types.isStringLiteral(field.value)
              )
                field.value = types.valueToNode(compileMessage(field.value.value));
          },
        });
      },
    },
  },
};

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
    async handler(code, id) {
      const result = await transformAsync(code, {
        filename: id,
        configFile: false,
        babelrc: false,
        sourceMaps: true,
        parserOpts: { plugins: ["typescript", "jsx"] },
        plugins: [[macros, { descriptorFields: "message" }], compileEnglish],
      });
      if (typeof result?.code !== "string") throw new Error(`the texts of ${id} could not be compiled`);
      return { code: result.code, map: result.map };
    },
  },
  resolveId: { filter: { id: /^virtual:pseudo\// }, handler: (id) => id },
  load: {
    filter: { id: /\.po$|^virtual:pseudo\// },
    async handler(id) {
      const pseudo = pseudoTexts[basename(id)];
      const catalog = await readCatalog(pseudo === undefined ? id : english);
      const compiled = Object.entries(catalog).map(([key, { message = "", translation = "" }]) => [
        key,
        pseudo === undefined ? compileMessage(translation) : compileMessage(message, pseudo),
      ]);
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
