export const maxTagLength = 200;

export const tagRule = "must start with a letter or digit, followed by letters, digits or dashes only";

/**
 * A letter of any language with its combining marks (decomposed accents, vowel signs), or a decimal digit of any script.
 * Excludes other numbers (½, ², Ⅷ), marks without a letter and invisible characters.
 */
const character = String.raw`(?!\p{DI})\p{L}(?:(?!\p{DI})[\p{Mn}\p{Mc}])*|\p{Nd}`;
// Bounded: isTag checks the length first.
const tagPattern = new RegExp(`^(?:${character})(?:${character}|-)*$`, "u");

/**
 * Whether a text is a valid tag. Source: contract.md, Add Tag: "starts with a letter or digit (any language), then
 * letters, digits or dashes".
 */
export function isTag(text: string): boolean {
  return text.length <= maxTagLength && tagPattern.test(text);
}

/** Tags normalized to NFC, without duplicates, in their order. */
export function uniqueTags(tags: readonly string[]): string[] {
  return [...new Set(tags.map((tag) => tag.normalize("NFC")))];
}
