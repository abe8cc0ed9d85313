/**
 * Characters as parley_search_clean distinguishes them: the insides of character classes, for expressions with the flag `u`.
 */

/** Scripts without spaces, and Hangul: each character is a word. */
export const wide =
  "\\u0e00-\\u0eff\\u1000-\\u109f\\u1100-\\u11ff\\u1780-\\u17ff\\u3005-\\u3007\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\ua960-\\ua97f\\uac00-\\ud7ff\\uf900-\\ufaff\\u{20000}-\\u{3134f}";

/** Each is a word. */
export const emoji =
  "\\u2190-\\u23ff\\u25a0-\\u27bf\\u2900-\\u297f\\u2b00-\\u2bff\\u{1f000}-\\u{1f3fa}\\u{1f400}-\\u{1fbff}";

/** What may stand for an apostrophe. */
export const apostrophes = "'`’ʼ‘ʻ＇′´·׳";

/** Spaces that separate the thousands of a number, besides the ordinary one. */
export const fixedSpaces = "\\u00a0\\u2007\\u2009\\u202f";
