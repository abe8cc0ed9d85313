import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { type PluginItem, transformAsync, types } from "@babel/core";
import macros from "@lingui/babel-plugin-lingui-macro";
import { formatter } from "@lingui/format-po";
import { compileMessage } from "@lingui/message-utils/compileMessage";
import type { Plugin } from "vite";

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

const accents: Readonly<Record<string, string>> = {
  ...{
    a: "á",
    c: "ç",
    d: "ð",
    e: "é",
    g: "ĝ",
    h: "ĥ",
    i: "í",
    l: "ļ",
    n: "ñ",
    o: "ó",
    r: "ŕ",
    s: "š",
    t: "ţ",
  },
  ...{
    u: "ú",
    w: "ŵ",
    y: "ý",
    z: "ž",
    A: "Å",
    C: "Ç",
    D: "Ð",
    E: "É",
    I: "Î",
    L: "Ļ",
    N: "Ñ",
    O: "Ö",
    R: "Ŕ",
  },
  ...{ S: "Š", T: "Ţ", U: "Û" },
};

/** Texts of the pseudo-locales: with accents and 40 % longer, and from right to left. */
const pseudoTexts: Readonly<Record<string, (text: string) => string>> = {
  "en-XA": (text) =>
    betweenTags(
      text,
      (part) =>
        `${part.replaceAll(/[a-zA-Z]/g, (letter) => accents[letter] ?? letter)}${"~".repeat(Math.ceil(part.trim().length * 0.4))}`,
    ),
  "ar-XB": (text) => betweenTags(text, (part) => `\u202e${part}\u202c`),
};

/** Changes a text, but not the tags of elements in it, such as `<0>`, nor what is only white space. */
function betweenTags(text: string, change: (part: string) => string): string {
  return text
    .split(/(<\/?\d+\/?>)/)
    .map((part, at) => (at % 2 === 1 || part.trim() === "" ? part : change(part)))
    .join("");
}
