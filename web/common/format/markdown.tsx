import { Fragment, type ReactNode } from "react";
import { type Block, readBlocks, readInlines } from "../../../shared/markdown/read.ts";
import classes from "./markdown.module.css";

/** Renders Markdown as elements. HTML in the text is never interpreted. */
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
          {block.items.map(({ depth, text, isDone }, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same text may occur twice.
            <li key={i} style={{ marginInlineStart: depth * 20 }}>
              {isDone === null ? null : isDone ? "☑ " : "☐ "}
              <Inline text={text} />
            </li>
          ))}
        </List>
      );
    }
    case "table":
      return <TableView head={block.head} rows={block.rows} />;
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

function TableView({ head, rows }: { head: readonly string[]; rows: readonly (readonly string[])[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard.
    <div className={classes.table} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((cell, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns never move.
              <th key={i} scope="col">
                <Inline text={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other identity.
            <tr key={i}>
              {cells.map((cell, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns never move.
                <td key={column}>
                  <Inline text={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

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
  return readInlines(text).map((part, i) => {
    const node = (): ReactNode => {
      switch (part.kind) {
        case "link":
          return (
            <a href={part.url} rel="noreferrer noopener" target="_blank">
              {part.text}
            </a>
          );
        case "bold":
          return <strong>{leaf(part.text)}</strong>;
        case "italic":
          return <em>{leaf(part.text)}</em>;
        case "code":
          return hasCode ? <code>{part.text}</code> : leaf(part.source);
        default:
          return leaf(part.text);
      }
    };
    // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other identity.
    return <Fragment key={i}>{node()}</Fragment>;
  });
}
