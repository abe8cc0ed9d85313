import { Fragment, type ReactNode } from "react";
import classes from "./markdown.module.css";

/**
 * Renders the common subset of Markdown as elements: headings, paragraphs, lists, quotes, rules, code, bold, italics and links.
 * HTML in the text is never interpreted.
 */
export function Markdown({ text }: { text: string }) {
  return (
    <div className={classes.markdown} dir="auto">
      {readBlocks(text).map((block, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no other identity.
        <BlockView key={i} block={block} />
      ))}
    </div>
  );
}

type Block =
  | { readonly kind: "heading"; readonly level: number; readonly text: string }
  | { readonly kind: "paragraph" | "quote" | "code"; readonly text: string }
  | { readonly kind: "list"; readonly isOrdered: boolean; readonly items: readonly Item[] }
  | { readonly kind: "rule" };

interface Item {
  readonly depth: number;
  readonly text: string;
}

const bullet = /^(\s*)(?:[-*+•]|(\d{1,9})[.)])\s(.*)$/;

/** Parses a text into blocks, line by line. */
function readBlocks(text: string): Block[] {
  const blocks: Block[] = [];
  let paragraph: string[] = [];
  const end = (): void => {
    if (paragraph.length > 0) blocks.push({ kind: "paragraph", text: paragraph.join("\n") });
    paragraph = [];
  };
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? "";
    const heading = /^(#{1,6})\s(.*)$/.exec(line);
    if (line.startsWith("```")) {
      end();
      const from = i + 1;
      do i++;
      while (i < lines.length && !lines[i]?.startsWith("```"));
      blocks.push({ kind: "code", text: lines.slice(from, i).join("\n") });
    } else if (line.trim() === "") end();
    else if (heading !== null) {
      end();
      blocks.push({
        kind: "heading",
        level: heading[1]?.length ?? 1,
        text: withoutClosing(heading[2] ?? ""),
      });
    } else if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) {
      end();
      blocks.push({ kind: "rule" });
    } else if (bullet.test(line)) {
      end();
      const list = takeWhile(lines, i, (next) => bullet.test(next));
      i += list.length - 1;
      const isOrdered = bullet.exec(line)?.[2] !== undefined;
      blocks.push({ kind: "list", isOrdered, items: list.map(readItem) });
    } else if (line.startsWith(">")) {
      end();
      const quote = takeWhile(lines, i, (next) => next.startsWith(">"));
      i += quote.length - 1;
      blocks.push({ kind: "quote", text: quote.map((next) => next.replace(/^>\s?/, "")).join("\n") });
    } else paragraph.push(line);
  }
  end();
  return blocks;
}

/** The lines from an index on that satisfy a condition, up to the first that does not. */
function takeWhile(lines: readonly string[], from: number, isPart: (line: string) => boolean): string[] {
  let to = from;
  while (to < lines.length && isPart(lines[to] ?? "")) to += 1;
  return lines.slice(from, to);
}

function readItem(line: string): Item {
  const [, indent = "", , text = ""] = bullet.exec(line) ?? [];
  return { depth: Math.min(3, Math.floor(indent.length / 2)), text: text.trimStart() };
}

/** The text of a heading without its closing `#`s. */
function withoutClosing(text: string): string {
  let end = text.length;
  while (text[end - 1] === "#") end -= 1;
  return text.slice(0, end).trim();
}

function BlockView({ block }: { block: Block }) {
  switch (block.kind) {
    case "heading": {
      // Nested below the page's own headings.
      const Heading = block.level <= 2 ? "h3" : "h4";
      return (
        <Heading>
          <Inline text={block.text} />
        </Heading>
      );
    }
    case "list": {
      const List = block.isOrdered ? "ol" : "ul";
      return (
        <List>
          {block.items.map(({ depth, text }, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same text may occur twice.
            <li key={i} style={{ marginInlineStart: depth * 20 }}>
              <Inline text={text.replace(/^\[[ x]\]\s+/i, "")} />
            </li>
          ))}
        </List>
      );
    }
    case "quote":
      return (
        <blockquote>
          <Inline text={block.text} />
        </blockquote>
      );
    case "code":
      return <pre>{block.text}</pre>;
    case "rule":
      return <hr />;
    default:
      return (
        <p>
          <Inline text={block.text} />
        </p>
      );
  }
}

const inline =
  /\*\*(?<bold>[^*]+)\*\*|__(?<strong>[^_]+)__|`(?<code>[^`]+)`|\[(?<label>[^[\]]+)\]\((?<url>[^()[\]\s]+)\)|(?<bare>https?:\/\/[^\s<>()[\]*`"]+)|\*(?<star>[^*\s][^*]*)\*|(?<![\p{L}\p{N}])_(?<low>[^_\s][^_]*)_(?![\p{L}\p{N}])/giu;

/**
 * Renders links and emphasis, and code unless `hasCode` is false.
 * @param props.leaf renders the text between them.
 */
export function Inline(props: {
  text: string;
  leaf?: (text: string) => ReactNode;
  hasCode?: boolean;
}): ReactNode {
  const { text, leaf = (part) => part, hasCode = true } = props;
  const parts: ReactNode[] = [];
  let done = 0;
  const add = (to: number, node: ReactNode): void => {
    parts.push(<Fragment key={parts.length}>{node}</Fragment>);
    done = to;
  };
  for (const match of text.matchAll(inline)) {
    const { bold, strong, code, label, url, bare, star, low } = match.groups ?? {};
    const end = match.index + match[0].length;
    if (match.index > done) add(match.index, leaf(text.slice(done, match.index)));
    if (bold ?? strong) add(end, <strong>{leaf(bold ?? strong ?? "")}</strong>);
    else if (code) add(end, hasCode ? <code>{code}</code> : leaf(match[0]));
    else if (star ?? low) add(end, <em>{leaf(star ?? low ?? "")}</em>);
    else if (bare) {
      // The end of a sentence is no part of a URL.
      const link = bare.replace(/[.,;:!?'_]{1,9}$/, "");
      add(match.index + link.length, <Link url={link}>{link}</Link>);
    } else add(end, isSafeUrl(url) ? <Link url={url}>{label}</Link> : leaf(label ?? ""));
  }
  if (done < text.length) add(text.length, leaf(text.slice(done)));
  return parts;
}

function Link({ url, children }: { url: string; children: ReactNode }) {
  return (
    <a href={url} rel="noreferrer noopener" target="_blank">
      {children}
    </a>
  );
}

/** Other schemes could run scripts. */
function isSafeUrl(url: string | undefined): url is string {
  return url !== undefined && /^(https?:\/\/|mailto:)/i.test(url);
}
