import { type Said, safeLine, safeMarkdown } from "./sanitize.ts";
import { type SectionAnswer, type SectionKindName, sectionAnswers } from "./schemas.ts";

/**
 * A section as stored with the recording: its data as JSON, and both renderings for the include's `format`. Source: contract.md, AI Template Section: "The fields of data depend on the section type; those fields: not
 * shown"; docs/guide/language-model.md has them.
 */
export interface StoredSection {
  readonly title: string;
  readonly data: SectionData;
  readonly markdown: string;
  readonly text: string;
}

export type SectionData =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "bullets"; readonly items: readonly string[] }
  | {
      readonly kind: "checklist";
      readonly items: readonly { readonly text: string; readonly checked: boolean }[];
    }
  | {
      readonly kind: "table";
      readonly columns: readonly string[];
      readonly rows: readonly (readonly string[])[];
    }
  | {
      readonly kind: "question-answer";
      readonly items: readonly { readonly question: string; readonly answer: string }[];
    };

const maxItems = 200;
const maxColumns = 20;

/**
 * Turns a model's response into the data of a section: sanitized, of limited size, with rows as wide as the table.
 * @param answer the model's response, which matches the schema of the kind.
 */
export function toSectionData(kind: SectionKindName, answer: unknown, said: Said): SectionData {
  const line = (text: string): string => safeLine(text, said, 2000);
  const lines = (items: readonly string[]): string[] => items.slice(0, maxItems).map(line).filter(Boolean);
  switch (kind) {
    case "text":
      return { kind, text: safeMarkdown(parse(kind, answer).text, said) };
    case "bullets":
      return { kind, items: lines(parse(kind, answer).items) };
    case "checklist": {
      const items = parse(kind, answer).items.slice(0, maxItems);
      return {
        kind,
        items: items
          .map(({ text, checked }) => ({ text: line(text), checked }))
          .filter(({ text }) => text !== ""),
      };
    }
    case "table": {
      const table = parse(kind, answer);
      const columns = table.columns.slice(0, maxColumns).map(line);
      const rows = table.rows
        .slice(0, maxItems)
        .map((row) => columns.map((_, index) => line(row[index] ?? "")))
        .filter((row) => row.some((cell) => cell !== ""));
      return columns.length === 0 ? { kind, columns: [], rows: [] } : { kind, columns, rows };
    }
    case "question-answer": {
      const items = parse(kind, answer).items.slice(0, maxItems);
      return {
        kind,
        items: items
          .map(({ question, answer: words }) => ({ question: line(question), answer: line(words) }))
          .filter(({ question }) => question !== ""),
      };
    }
  }
}

function parse<K extends SectionKindName>(kind: K, answer: unknown): SectionAnswer<K> {
  return sectionAnswers[kind].parse(answer) as SectionAnswer<K>;
}

/** Whether a section is empty, so that it is not stored. */
export function isEmptySection(data: SectionData): boolean {
  switch (data.kind) {
    case "text":
      return data.text === "";
    case "table":
      return data.rows.length === 0;
    default:
      return data.items.length === 0;
  }
}

export function toStoredSection(title: string, data: SectionData): StoredSection {
  return { title, data, markdown: renderMarkdown(data), text: renderText(data) };
}

/** Renders a section as Markdown (CommonMark with GitHub's tables and checklists). */
export function renderMarkdown(data: SectionData): string {
  switch (data.kind) {
    case "text":
      return data.text;
    case "bullets":
      return data.items.map((item) => `- ${item}`).join("\n");
    case "checklist":
      return data.items.map(({ text, checked }) => `- [${checked ? "x" : " "}] ${text}`).join("\n");
    case "table": {
      if (data.columns.length === 0) return "";
      const row = (cells: readonly string[]): string => `| ${cells.map(markdownCell).join(" | ")} |`;
      return [row(data.columns), row(data.columns.map(() => "---")), ...data.rows.map(row)].join("\n");
    }
    case "question-answer":
      return data.items
        .map(({ question, answer }) => `**${question.replaceAll("*", "\\*")}**\n\n${answer}`)
        .join("\n\n");
  }
}

/** Escapes bars, which would start another cell even in code, and the backslashes before them. */
function markdownCell(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("|", "\\|");
}

/** Renders a section as plain text. */
export function renderText(data: SectionData): string {
  switch (data.kind) {
    case "text":
      return withoutMarks(data.text);
    case "bullets":
      return data.items.map((item) => `- ${withoutMarks(item)}`).join("\n");
    case "checklist":
      return data.items
        .map(({ text, checked }) => `[${checked ? "x" : " "}] ${withoutMarks(text)}`)
        .join("\n");
    case "table":
      return data.columns.length === 0
        ? ""
        : [data.columns, ...data.rows].map((cells) => cells.map(withoutMarks).join(" | ")).join("\n");
    case "question-answer":
      return data.items
        .map(({ question, answer }) => `Q: ${withoutMarks(question)}\nA: ${withoutMarks(answer)}`)
        .join("\n\n");
  }
}

/** Removes pairs of a Markdown mark that enclose a text without spaces at its ends. */
function withoutPairs(line: string, mark: string): string {
  const parts = line.split(mark);
  const opens = (index: number): boolean => /^\S/.test(parts[index + 1] ?? "");
  const closes = (index: number): boolean => /\S/.test(parts[index]?.at(-1) ?? "");
  const lastClosing = parts.findLastIndex((_, index) => index < parts.length - 1 && closes(index));
  const result = [parts[0] ?? ""];
  let isOpen = false;
  parts.slice(1).forEach((part, index) => {
    if (isOpen ? closes(index) : opens(index) && index < lastClosing) isOpen = !isOpen;
    else result.push(mark);
    result.push(part);
  });
  return result.join("");
}

/** Removes Markdown marks; lists keep their dashes. */
function withoutMarks(markdown: string): string {
  return markdown
    .replace(/^ {0,3}#{1,6}[ \t]+/gm, "")
    .replace(/^ {0,3}(?:```|~~~).*\n?/gm, "")
    .replace(/^ {0,3}> ?/gm, "")
    .split("\n")
    .map((line) => ["***", "**", "__", "~~"].reduce(withoutPairs, line))
    .join("\n")
    .replace(/(?<![\p{L}\p{N}*_])([*_])(?=\S)([^\n*_]*?\S)\1(?![\p{L}\p{N}*_])/gu, "$2")
    .replace(/`([^`\n]+)`/g, "$1")
    .replace(/^([ \t]*)[*+][ \t]+/gm, "$1- ")
    .replace(/&lt;/g, "<")
    .trim();
}
