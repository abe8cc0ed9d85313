/** The text of a file, and the encoding that it was read in. */
export interface DecodedText {
  readonly text: string;
  /** As `TextDecoder` names it, such as `utf-8` or `windows-1252`. */
  readonly encoding: string;
  /** Whether all or part of the text is read in the usual encoding of the language, which nothing in the file tells. */
  readonly isAssumed: boolean;
}

/** The Windows code page of each language that isn't written in windows-1252. */
const codePages: Readonly<Record<string, string>> = Object.fromEntries(
  (
    [
      ["windows-1250", "bs cs hr hu pl ro sk sl sq sr-latn"],
      ["windows-1251", "be bg kk ky mk mn ru sr tg tt uk uz-cyrl"],
      ["windows-1253", "el"],
      ["windows-1254", "az tr"],
      ["windows-1255", "he iw yi"],
      ["windows-1256", "ar fa ps sd ug ur"],
      ["windows-1257", "et lt lv"],
      ["windows-1258", "vi"],
      ["windows-874", "th"],
      ["shift_jis", "ja"],
      ["euc-kr", "ko"],
      ["gb18030", "zh"],
      ["big5", "yue zh-hant zh-hk zh-mo zh-tw"],
    ] as const
  ).flatMap(([page, languages]) => languages.split(" ").map((language) => [language, page])),
);

/**
 * Decodes a text file: by its byte order mark, or else as UTF-8 if all of it is, as UTF-16 if its zero bytes show that, and
 * otherwise in the Windows code page of the language. The text has U+FFFD only where the file does.
 */
export function decodeText(bytes: Uint8Array, { language }: { language?: string } = {}): DecodedText {
  const page = codePageOf(language);
  const marked = decodeMarked(bytes, page);
  if (marked !== null) return marked;
  const utf16 = decodeUnmarkedUtf16(bytes);
  if (utf16 !== null) return utf16;
  const utf8 = strictly("utf-8", bytes);
  if (utf8 !== null) return { text: utf8, encoding: "utf-8", isAssumed: false };
  const mixed = decodeByLine(bytes, page);
  if (mixed !== null) return { text: mixed, encoding: "utf-8", isAssumed: true };
  const text = strictly(page, bytes);
  if (text !== null) return { text, encoding: page, isAssumed: true };
  return { text: asWindows1252(bytes), encoding: "windows-1252", isAssumed: true };
}

function decodeMarked(bytes: Uint8Array, page: string): DecodedText | null {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) {
    const content = bytes.subarray(3);
    const text = strictly("utf-8", content);
    if (text !== null) return { text, encoding: "utf-8", isAssumed: false };
    return { text: byLine(content, page).text, encoding: "utf-8", isAssumed: true };
  }
  const encoding =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : null;
  if (encoding === null) return null;
  return { text: asUtf16(encoding, bytes.subarray(2)), encoding, isAssumed: false };
}

/** At least this part of the bytes of UTF-16 is zero: those of spaces, digits and ends of lines in any language. */
const minZeroShare = 0.02;

/**
 * UTF-16 without a byte order mark: ends of lines have their zero byte on one side only, which no other character looks like
 * (U+0A00 is none); without them, most zero bytes are the first, or the second, of their pair.
 */
function decodeUnmarkedUtf16(bytes: Uint8Array): DecodedText | null {
  const zeros: [number, number] = [0, 0];
  const lineFeeds: [number, number] = [0, 0];
  for (let at = bytes.indexOf(0); at !== -1; at = bytes.indexOf(0, at + 1)) {
    const side = at % 2 === 0 ? 0 : 1;
    zeros[side] += 1;
    if (bytes[side === 0 ? at + 1 : at - 1] === 0x0a) lineFeeds[side] += 1;
  }
  // Line feeds of one byte each: some other character is zero.
  if (Math.max(...lineFeeds) === 0 && bytes.includes(0x0a)) return null;
  const [first, second] = Math.max(...lineFeeds) > 0 && Math.min(...lineFeeds) === 0 ? lineFeeds : zeros;
  if (Math.max(...zeros) < bytes.length * minZeroShare) return null;
  if (Math.max(first, second) <= 2 * Math.min(first, second)) return null;
  const encoding = second > first ? "utf-16le" : "utf-16be";
  const text = asUtf16(encoding, bytes);
  return text.includes("\0") ? null : { text, encoding, isAssumed: false };
}

/** A lone surrogate becomes a question mark; half a character at the end is left out. */
function asUtf16(encoding: string, bytes: Uint8Array): string {
  const whole = bytes.subarray(0, bytes.length - (bytes.length % 2));
  return (
    strictly(encoding, whole) ??
    new TextDecoder(encoding, { ignoreBOM: true }).decode(whole).replaceAll("\uFFFD", "?")
  );
}

/** Null unless most lines with other characters than ASCII are UTF-8: others were added by another program. */
function decodeByLine(bytes: Uint8Array, page: string): string | null {
  const { text, valid, invalid } = byLine(bytes, page);
  return valid > invalid ? text : null;
}

/** Decodes each line as UTF-8, or else in the code page. In none of them a line feed is part of another character. */
function byLine(bytes: Uint8Array, page: string): { text: string; valid: number; invalid: number } {
  const lines: string[] = [];
  let [valid, invalid] = [0, 0];
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(0x0a, from);
    const line = bytes.subarray(from, end === -1 ? bytes.length : end + 1);
    from += line.length;
    const text = strictly("utf-8", line);
    if (text === null) invalid += 1;
    else if (text.length < line.length) valid += 1;
    lines.push(text ?? strictly(page, line) ?? asWindows1252(line));
  }
  return { text: lines.join(""), valid, invalid };
}

function codePageOf(language = ""): string {
  const tag = language.toLowerCase().replaceAll("_", "-");
  const [primary = ""] = tag.split("-");
  return (
    Object.entries(codePages).find(([key]) => key.includes("-") && tag.startsWith(key))?.[1] ??
    codePages[primary] ??
    "windows-1252"
  );
}

/** Null if the bytes aren't all of this encoding. */
function strictly(encoding: string, bytes: Uint8Array): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/** Every byte is a character in it. */
function asWindows1252(bytes: Uint8Array): string {
  return new TextDecoder("windows-1252").decode(bytes);
}
