const accents: Readonly<Record<string, string>> = Object.fromEntries(
  ["aá", "cç", "dð", "eé", "gĝ", "hĥ", "ií", "lļ", "nñ", "oó", "rŕ", "sš", "tţ", "uú", "wŵ", "yý", "zž"]
    .concat(["AÅ", "CÇ", "DÐ", "EÉ", "IÎ", "LĻ", "NÑ", "OÖ", "RŔ", "SŠ", "TŢ", "UÛ"])
    .map((pair) => [pair.charAt(0), pair.charAt(1)]),
);

/** How texts of the pseudo-locales are made from English: with accents and 40 % longer, and from right to left. */
export const pseudoTexts: Readonly<Record<string, (text: string) => string>> = {
  "en-XA": (text) =>
    betweenTags(
      text,
      (part) =>
        part.replaceAll(/[a-zA-Z]/g, (letter) => accents[letter] ?? letter) +
        // In words, so that lines can break.
        "~".repeat(Math.ceil(part.trim().length * 0.4)).replaceAll(/~{6}(?=~)/g, "$& "),
    ),
  "ar-XB": (text) => betweenTags(text, (part) => `\u202e${part}\u202c`),
};

/** Changes a text, but not the tags of elements in it, such as `<0>`, nor what is only white space. */
function betweenTags(text: string, change: (part: string) => string): string {
  return text
    .split(/(<\/?\d+\/?>)/)
    .map((part, at) => (at % 2 === 1 || part.trim() === "" ? part : change(part)))
    .join("");
}
