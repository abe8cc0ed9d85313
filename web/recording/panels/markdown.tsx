import { Fragment, type ReactNode } from "react";
import classes from "./panels.module.css";

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
  /\*\*(?<bold>[^*]+)\*\*|__(?<strong>[^_]+)__|`(?<code>[^`]+)`|\[(?<label>[^[\]]+)\]\((?<url>[^()[\]\s]+)\)|\*(?<star>[^*\s][^*]*)\*|(?<![\p{L}\p{N}])_(?<low>[^_\s][^_]*)_(?![\p{L}\p{N}])/gu;

function Inline({ text }: { text: string }): ReactNode {
  const parts: ReactNode[] = [];
  let done = 0;
  for (const match of text.matchAll(inline)) {
    const { bold, strong, code, label, url, star, low } = match.groups ?? {};
    parts.push(text.slice(done, match.index));
    done = match.index + match[0].length;
    if (bold ?? strong) parts.push(<strong key={done}>{bold ?? strong}</strong>);
    else if (code) parts.push(<code key={done}>{code}</code>);
    else if (star ?? low) parts.push(<em key={done}>{star ?? low}</em>);
    else
      parts.push(
        isSafeUrl(url) ? (
          <a key={done} href={url} rel="noreferrer noopener" target="_blank">
            {label}
          </a>
        ) : (
          <Fragment key={done}>{label}</Fragment>
        ),
      );
  }
  return [...parts, text.slice(done)];
}

/** Other schemes could run scripts. */
function isSafeUrl(url: string | undefined): boolean {
  return /^(https?:\/\/|mailto:)/i.test(url ?? "");
}
