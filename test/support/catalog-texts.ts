import { readFile } from "node:fs/promises";
import { parsePo } from "pofile-ts";

/**
 * Reads the texts of a language from the catalogs of web app and server.
 * @returns finds the translation of an English text, of a context where a text has several; throws if there is none.
 */
export async function readTexts(language: string): Promise<(english: string, context?: string) => string> {
  const translations = new Map<string, string>();
  for (const folder of ["web/locales", "server/platform/language/locales"]) {
    const file = new URL(`../../${folder}/${language}.po`, import.meta.url);
    for (const { msgid, msgctxt, msgstr } of parsePo(await readFile(file, "utf8")).items)
      translations.set(`${msgctxt ?? ""}\0${msgid}`, msgstr[0] ?? "");
  }
  return (english, context = "") => {
    const found = translations.get(`${context}\0${english}`) ?? "";
    if (found === "") throw new Error(`there is no text in ${language}: ${english}`);
    return found;
  };
}
