/** The header that tells programs made for the original service why something is missing; empty without a reason. */
export function warningHeader(...texts: readonly (string | null)[]): Record<string, string> {
  // 299 is a persistent warning without a code of its own (RFC 7234, section 5.5.7).
  const values = texts.filter((text) => text !== null).map((text) => `299 parley "${text}"`);
  return values.length === 0 ? {} : { warning: values.join(", ") };
}
