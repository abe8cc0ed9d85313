let names: Intl.DisplayNames | undefined;

/** The English name of a language, such as "Portuguese (Brazil)" for pt-BR; the code itself where it has none. */
export function languageName(code: string): string {
  try {
    names ??= new Intl.DisplayNames(["en"], { type: "language" });
    return names.of(code) ?? code;
  } catch {
    // Not the form of a code, as other systems send it.
    return code;
  }
}
