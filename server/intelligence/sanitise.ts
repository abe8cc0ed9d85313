import { plainLine } from "./lines.ts";

/**
 * What a model wrote goes into web pages, mails and other programs, and whoever speaks in a meeting can make a model
 * write something. So of Markdown only what has no reach stays: no HTML, no pictures, no links, and no address that was
 * not spoken of in the meeting. Then nothing is loaded from elsewhere, carries words of the meeting away, or leads
 * readers somewhere.
 */

/** What was said, as addresses are looked up in it. */
export type Said = (address: string) => boolean;

/** @param text the whole transcript. */
export function saidIn(text: string): Said {
  const spoken = text.toLowerCase();
  return (address) => spoken.includes(address.toLowerCase());
}

/** `scheme:` with something behind it, or `www.`; the schemes that act without slashes by name. */
const address =
  /(?:\b[a-z][a-z0-9+.-]{1,30}:\/\/|\bwww\.|\b(?:javascript|vbscript|data|mailto|tel|file|blob|about|sms):)[^\s<>"'`|]*/giu;

/** A host name alone, as many programs make links of it, with what follows. Repetitions are bounded, so that no text takes long. */
const bareHost =
  /(?<![\p{L}\p{N}])(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.){1,8}(?:com|net|org|io|dev|app|co|info|biz|xyz|top|ru|cn|de|uk|eu|us|ai|me|ly|gg|tk|link|click|site|online|shop|zip|mov|example|test|invalid|local)(?![\p{L}\p{N}-])(?:[:/?#][^\s<>"'`|]*)?/giu;

const email = /[\p{L}\p{N}._%+-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,24}/gu;

/** Longer texts than this nobody asked for. */
const longestMarkdown = 40_000;

/** Makes Markdown of a model safe. Line breaks stay. */
export function safeMarkdown(markdown: string, said: Said): string {
  const text = markdown
    .slice(0, longestMarkdown)
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029\v\f]/g, "\n");
  return withoutReach(text, said)
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

/** Every line without what nobody sees; what it begins with says how deep it stands in a list. */
function tidyLines(text: string): string {
  return text
    .split("\n")
    .map((line) => {
      const words = plainLine(line);
      return words === "" ? "" : `${(/^[ \t]*/.exec(line)?.[0] ?? "").replaceAll("\t", "  ")}${words}`;
    })
    .join("\n");
}

/** The same for a text of one line. @param longest in characters. */
export function safeLine(text: string, said: Said, longest = 1000): string {
  const line = plainLine(withoutReach(plainLine(text.slice(0, 4 * longest)), said));
  return line.length <= longest
    ? line
    : `${line
        .slice(0, longest - 1)
        .toWellFormed()
        .trimEnd()}…`;
}

/** Taking one thing out may put another together. */
const mostRounds = 5;

function withoutReach(markdown: string, said: Said): string {
  let text = markdown;
  for (let round = 0; round < mostRounds; round += 1) {
    const before = text;
    text = tidyLines(strip(tidyLines(text), said));
    if (text === before) break;
  }
  return broken(text);
}

function strip(markdown: string, said: Said): string {
  return (
    decodeEntities(markdown)
      // What browsers act on without showing it goes with its content.
      .replace(
        /<(script|style|iframe|object|svg|template|noscript)\b[^<>]*>[\s\S]{0,4000}?<\/\1\s{0,9}>/gi,
        "",
      )
      .replace(/<!--[\s\S]{0,4000}?-->/g, "")
      // <https://…> is an address; every other tag goes.
      .replace(/<((?:https?|ftp):\/\/[^\s<>]*)>/gi, "$1")
      .replace(/<\/?[a-z!?][^<>]*>/gi, "")
      // Pictures and links leave their words.
      .replace(/!\[([^[\]]*)\](?:\([^()]{0,2000}\)|\[[^[\]]*\])/g, "$1")
      .replace(
        /\[([^[\]]*)\]\(((?:[^()\n]|\([^()\n]{0,200}\)){0,2000})\)/g,
        (_, words: string, inside: string) => linkText(words, inside),
      )
      .replace(/\[([^[\]]*)\]\[[^[\]]*\]/g, "$1")
      // Definitions of links.
      .replace(/^[ \t>*+-]*\[[^[\]\n]+\]:.*$/gm, "")
      .replace(address, (found) => keepSaid(found, said))
      .replace(email, (found) => keepSaid(found, said))
      .replace(bareHost, (found) => keepSaid(found, said))
  );
}

/**
 * Whatever the rules above did not see: no `<` begins a tag, and no bracket a link, picture or definition. An entity
 * rather than a backslash, which a backslash before it would undo.
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

/** What of an address stays: all of it if it was said, without the signs that end a sentence. */
function keepSaid(found: string, said: Said): string {
  let end = found.length;
  while (end > 0 && ").,;:!?]}*_".includes(found[end - 1] as string)) end -= 1;
  const [core, tail] = [found.slice(0, end), found.slice(end)];
  return core !== "" && said(core) && !/^(?:javascript|vbscript|data|file|blob|about):/i.test(core)
    ? found
    : `[link removed]${tail}`;
}

/** Entities could hide a tag or a scheme from the rules. */
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
