import { i18n } from "@lingui/core";

/**
 * The locale of dates, numbers and lists: the app's language, with the browser's region if that is for the same
 * language, because `en-GB` has other dates and hours than `en-US`.
 */
function currentLocale(): string {
  const language = i18n.locale || "en";
  const [base = language] = language.split("-");
  const wanted = navigator.languages.filter((tag) => tag === base || tag.startsWith(`${base}-`));
  return wanted.find(isValid) ?? language;
}

/** Chromium reports `en-US@posix` where the system has no locale, which Intl refuses. */
function isValid(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}

/** Keeps what `create` makes until the language changes: formatters take long to create. */
export function perLocale<Value>(create: (locale: string) => Value): () => Value {
  let kept: { readonly locale: string; readonly value: Value } | undefined;
  return () => {
    const locale = currentLocale();
    if (kept?.locale !== locale) kept = { locale, value: create(locale) };
    return kept.value;
  };
}
