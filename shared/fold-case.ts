/**
 * A key without the difference of upper and lower case: emails, tags, names. The twin of parley_lower in the database, where
 * the locale has no influence either. Letter by letter, so that Σ is σ at the end of a word too, and İ is i.
 */
export function foldCase(text: string): string {
  let folded = "";
  for (const letter of text) folded += letter === "İ" ? "i" : letter.toLowerCase();
  return folded;
}

/** The form in which names are compared: composed or not (NFC, NFD), with or without capitals, without space around. */
export function foldName(name: string): string {
  return foldCase(name.normalize("NFKC").trim());
}
