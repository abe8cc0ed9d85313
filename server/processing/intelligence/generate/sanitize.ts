import { plainLine } from "./lines.ts";

/**
 * A model's text is shown in web pages, emails and other programs, and anyone who speaks in a meeting can influence what
 * the model writes. So only harmless Markdown stays: no HTML, no images, no links, and no URL that was not mentioned in the
 * meeting. Then nothing is loaded from elsewhere, no words of the meeting leak through URLs, and no reader is led away.
 */

/** The spoken words, to look up URLs in. */
export type Said = (address: string) => boolean;

/** @param text the whole transcript. */
export function saidIn(text: string): Said {
  const spoken = text.toLowerCase();
  return (address) => spoken.includes(address.toLowerCase());
}

/** `scheme://…` or `www.…`; schemes that work without slashes are listed by name. */
const address =
  /(?:\b[a-z][a-z0-9+.-]{1,30}:\/\/|\bwww\.|\b(?:javascript|vbscript|data|mailto|tel|file|blob|about|sms):)[^\s<>"'`|]*/giu;

/** A bare host name with its path, which many programs turn into a link. Repetitions are bounded to stay linear. */
const bareHost =
  /(?<![\p{L}\p{N}])(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.){1,8}(?:com|net|org|io|dev|app|co|info|biz|xyz|top|ru|cn|de|uk|eu|us|ai|me|ly|gg|tk|link|click|site|online|shop|zip|mov|example|test|invalid|local)(?![\p{L}\p{N}-])(?:[:/?#][^\s<>"'`|]*)?/giu;

const email = /[\p{L}\p{N}._%+-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,24}/gu;

/** Sanitizes a text of one line. @param longest longer ones are cut; in characters. */
export function safeLine(text: string, said: Said, longest = 1000): string {
  const line = plainLine(withoutReach(text.slice(0, 4 * longest), said));
  return line.length <= longest
    ? line
    : `${line
        .slice(0, longest - 1)
        .toWellFormed()
        .trimEnd()}…`;
}

/** Repeats until nothing changes, because removing one thing may form another. */
const maxRounds = 5;

function withoutReach(markdown: string, said: Said): string {
  let text = markdown;
  for (let round = 0; round < maxRounds; round += 1) {
    const before = text;
    text = plainLine(strip(plainLine(text), said));
    if (text === before) break;
  }
  return broken(text);
}

function strip(markdown: string, said: Said): string {
  return (
    decodeEntities(markdown)
      // Elements that browsers execute rather than show are removed with their content.
      .replace(
        /<(script|style|iframe|object|svg|template|noscript)\b[^<>]*>[\s\S]{0,4000}?<\/\1\s{0,9}>/gi,
        "",
      )
      .replace(/<!--[\s\S]{0,4000}?-->/g, "")
      // Keeps the URL of <https://…>; removes every other tag.
      .replace(/<((?:https?|ftp):\/\/[^\s<>]*)>/gi, "$1")
      .replace(/<\/?[a-z!?][^<>]*>/gi, "")
      // Replaces images and links by their text.
      .replace(/!\[([^[\]]*)\](?:\([^()]{0,2000}\)|\[[^[\]]*\])/g, "$1")
      .replace(
        /\[([^[\]]*)\]\(((?:[^()\n]|\([^()\n]{0,200}\)){0,2000})\)/g,
        (_, words: string, inside: string) => linkText(words, inside),
      )
      .replace(/\[([^[\]]*)\]\[[^[\]]*\]/g, "$1")
      // Removes link definitions.
      .replace(/^[ \t>*+-]*\[[^[\]\n]+\]:.*$/gm, "")
      .replace(address, (found) => keepSaid(found, said))
      .replace(email, (found) => keepSaid(found, said))
      .replace(bareHost, (found) => keepSaid(found, said))
  );
}

/**
 * Escapes whatever the rules above missed, so that no `<` starts a tag and no bracket a link, image or definition. Uses
 * entities, because a preceding backslash would undo a backslash.
 */
function broken(text: string): string {
  return text
    .replace(/<(?=[a-z/!?])/gi, "&lt;")
    .replace(/\](?=[([:])/g, "] ")
    .replace(/!(?=\[)/g, "! ");
}

function linkText(words: string, inside: string): string {
  const target = inside.trim().split(/\s/, 1)[0] ?? "";
  const isAddress = /^[a-z][a-z0-9+.-]*:|^www\./i.test(target);
  return isAddress && !words.includes(target) ? `${words} (${target})` : words;
}

/** Keeps a URL that was spoken, without the punctuation that ends a sentence; returns its host name otherwise. */
function keepSaid(found: string, said: Said): string {
  let end = found.length;
  while (end > 0 && ").,;:!?]}*_".includes(found[end - 1] as string)) end -= 1;
  const [core, tail] = [found.slice(0, end), found.slice(end)];
  return core !== "" && said(core) && !/^(?:javascript|vbscript|data|file|blob|about):/i.test(core)
    ? found
    : `[link removed]${tail}`;
}

/** Decodes entities, which could hide a tag or a scheme from the rules. */
function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(lt|gt|amp|quot|apos|colon|sol|lpar|rpar|lsqb|rsqb|excl|nbsp|Tab|NewLine));?/gi,
    (all, decimal, hex, name) => {
      if (name !== undefined) return named[String(name).toLowerCase()] ?? all;
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
      return code >= 32 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
        ? String.fromCodePoint(code)
        : "";
    },
  );
}

const named: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  amp: "&",
  quot: '"',
  apos: "'",
  colon: ":",
  sol: "/",
  lpar: "(",
  rpar: ")",
  lsqb: "[",
  rsqb: "]",
  excl: "!",
  nbsp: " ",
  tab: " ",
  newline: " ",
};
