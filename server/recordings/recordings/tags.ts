/** Tags normalized to NFC, without duplicates, in their order. */
export function uniqueTags(tags: readonly string[]): string[] {
  return [...new Set(tags.map((tag) => tag.normalize("NFC")))];
}
