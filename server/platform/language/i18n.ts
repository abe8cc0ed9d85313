import { readFile } from "node:fs/promises";
import type { IntlMessageFormat } from "intl-messageformat";
import { knownLanguages, sourceLanguage } from "../../../shared/languages.ts";
import { pseudoTexts } from "../../../shared/pseudo-locales.ts";
import { escapeHtml, type Html } from "../html.ts";

type Value = string | number;
type RichValue = Value | Html | ((inner: Html) => Html);

/**
 * The texts of the server in one language. Lingui finds calls of `t` only if the variable is called `i18n`.
 * Source: https://lingui.dev/guides/message-extraction
 */
export interface I18n {
  /** The language's tag, for `lang` and for `Intl`. */
  readonly language: string;
  /**
   * A text in this language: `i18n.t("Hello {name},", { name })`, with plurals as in `{count, plural, one {# file} other {# files}}`.
   * @param text the English text, written where it is used: it is compiled once and kept.
   */
  t(text: string, values?: Readonly<Record<string, Value>>): string;
  /**
   * The same as HTML, because of a value that is: `{ link: (inner) => html`<a href="/">${inner}</a>` }` for
   * `<link>…</link>`, or `{ name: html`<b>${name}</b>` }` for `{name}`. The text and all other values are escaped.
   */
  t(text: string, values: Readonly<Record<string, RichValue>>): Html;
}

/** A text that is written before it is known who reads it: `(i18n) => i18n.t("Library")`. */
export type Localized = (i18n: I18n) => string;

const loaded = new Map<string, Promise<I18n>>();

/** The texts in a language, or in English if there are none or they can't be read. */
export function i18nFor(language: string | null): Promise<I18n> {
  const known = language !== null && knownLanguages.includes(language) ? language : sourceLanguage;
  const found = loaded.get(known) ?? load(known);
  loaded.set(known, found);
  return found;
}

async function load(language: string): Promise<I18n> {
  if (language === sourceLanguage || language in pseudoTexts) return createI18n(language, null);
  try {
    return await createI18n(language, await readCatalog(language));
  } catch (error) {
    report(`the texts in ${language} could not be read: ${(error as Error).message}`);
    return i18nFor(sourceLanguage);
  }
}

/**
 * The texts in a language from a catalog, as `i18nFor` reads it.
 * @param translations by their English text; null for English and for pseudo-locales, which are made from it.
 */
export async function createI18n(
  language: string,
  translations: ReadonlyMap<string, string> | null,
): Promise<I18n> {
  const { IntlMessageFormat } = await import("intl-messageformat");
  const change = pseudoTexts[language];
  return new Texts(language, translations, (text, of) => {
    const compiled = new IntlMessageFormat(text, of);
    if (change === undefined || of !== language) return compiled;
    const tree = compiled.getAst();
    changeLiterals(tree, change);
    return new IntlMessageFormat(tree, of);
  });
}

/** The translations of a catalog by their English text. */
async function readCatalog(language: string): Promise<ReadonlyMap<string, string>> {
  const { parsePo } = await import("pofile-ts");
  const { items } = parsePo(await readFile(new URL(`locales/${language}.po`, import.meta.url), "utf8"));
  return new Map(items.map(({ msgid, msgstr }) => [msgid, msgstr[0] ?? ""]));
}

type Compile = (text: string, language: string) => IntlMessageFormat;

class Texts implements I18n {
  readonly language: string;
  readonly #translations: ReadonlyMap<string, string> | null;
  readonly #compile: Compile;
  readonly #compiled = new Map<string, IntlMessageFormat>();

  constructor(language: string, translations: ReadonlyMap<string, string> | null, compile: Compile) {
    this.language = language;
    this.#translations = translations;
    this.#compile = compile;
  }

  t(text: string, values?: Readonly<Record<string, Value>>): string;
  t(text: string, values: Readonly<Record<string, RichValue>>): Html;
  t(text: string, values: Readonly<Record<string, RichValue>> = {}): string | Html {
    try {
      return show(this.#compiledOf(text), values);
    } catch (error) {
      if (this.language === sourceLanguage) throw error;
      report(`the text in ${this.language} can't be used: ${text}: ${(error as Error).message}`);
      this.#compiled.set(text, this.#compile(text, sourceLanguage));
      return show(this.#compiledOf(text), values);
    }
  }

  #compiledOf(text: string): IntlMessageFormat {
    const known = this.#compiled.get(text);
    if (known !== undefined) return known;
    const compiled = this.#translate(text);
    this.#compiled.set(text, compiled);
    return compiled;
  }

  #translate(text: string): IntlMessageFormat {
    if (this.#translations === null) return this.#compile(text, this.language);
    const translation = this.#translations.get(text) ?? "";
    if (translation !== "") return this.#compile(translation, this.language);
    report(`there is no text in ${this.language}: ${text}`);
    return this.#compile(text, sourceLanguage);
  }
}

function show(compiled: IntlMessageFormat, values: Readonly<Record<string, RichValue>>): string | Html {
  const isRich = Object.values(values).some(
    (value) => typeof value === "function" || typeof value === "object",
  );
  if (!isRich) return String(compiled.format(values as Record<string, Value>));
  const prepared = Object.entries(values).map(
    ([name, value]) =>
      [name, typeof value === "function" ? (inner: Piece[]) => value(join(inner)) : value] as const,
  );
  return join(compiled.formatToParts<Html>(Object.fromEntries(prepared)).map(({ value }) => value));
}

type Piece = string | Html;

function join(pieces: readonly Piece[]): Html {
  return {
    html: pieces.map((piece) => (typeof piece === "string" ? escapeHtml(piece) : piece.html)).join(""),
  };
}

type Tree = ReturnType<IntlMessageFormat["getAst"]>;

/** The type of a part of a text without values, in the syntax tree. */
const literal = 0;

function changeLiterals(tree: Tree, change: (text: string) => string): void {
  for (const node of tree) {
    if (node.type === literal) node.value = change(node.value);
    if ("children" in node) changeLiterals(node.children, change);
    if ("options" in node) for (const { value } of Object.values(node.options)) changeLiterals(value, change);
  }
}

/** A translation never keeps a page or an email from being sent: the problem is in the log once, the text in English. */
function report(problem: string): void {
  process.emitWarning(problem, "TranslationWarning");
}
