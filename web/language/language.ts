import { i18n, type Messages } from "@lingui/core";
import { chooseLanguage, directionOf, sourceLanguage } from "../../shared/languages.ts";
import { compileSimple } from "./simple-text.ts";

type Catalog = { readonly messages: Messages };

/** Loads the texts of a language. English has none: its texts are in the code. */
const catalogs: Readonly<Record<string, () => Promise<Catalog>>> = {
  de: () => import("../locales/de.po"),
  fr: () => import("../locales/fr.po"),
  es: () => import("../locales/es.po"),
  ja: () => import("../locales/ja.po"),
  // Pseudo-locales, for tests: longer texts with accents, and texts that run from right to left.
  "en-XA": () => import("virtual:pseudo/en-XA"),
  "ar-XB": () => import("virtual:pseudo/ar-XB"),
};

// A simple text is its own ID. See vite-messages.ts.
i18n.setMessagesCompiler(compileSimple);

let latest = "";

/**
 * Shows the app in the first of the wanted languages that there is; in English if its texts don't load. What is shown
 * changes where it stands: nothing is mounted again, so forms keep what was typed.
 * @param wanted without it, the language of the document, which the server chose.
 * @returns the language in use.
 */
export async function activateLanguage(
  wanted: readonly string[] = [document.documentElement.lang],
): Promise<string> {
  const language = chooseLanguage(wanted);
  latest = language;
  const messages = await loadMessages(language);
  // Another one was chosen meanwhile.
  if (latest !== language) return i18n.locale;
  i18n.loadAndActivate({ locale: messages === null ? sourceLanguage : language, messages: messages ?? {} });
  document.documentElement.lang = i18n.locale;
  document.documentElement.dir = directionOf(i18n.locale);
  return i18n.locale;
}

async function loadMessages(language: string): Promise<Messages | null> {
  try {
    return (await catalogs[language]?.())?.messages ?? {};
  } catch (error) {
    console.error(`the texts in ${language} could not be loaded`, error);
    return null;
  }
}
