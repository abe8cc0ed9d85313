import { type Said, safeLine, safeMarkdown } from "./sanitise.ts";
import { type SectionAnswer, type SectionKindName, sectionAnswers } from "./schemas.ts";

/**
 * A section of a recording as it is kept: its data as JSON, and both renderings, which the include's `format` chooses
 * from. Source: contract.md, AI Template Section: "The fields of data depend on the section type; those fields: not
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

const mostItems = 200;
const mostColumns = 20;

/**
 * Makes the data of a section of what a model answered: safe, of bounded size, rows as wide as the table.
 * @param answer matches the schema of the kind.
 */
export function toSectionData(kind: SectionKindName, answer: unknown, said: Said): SectionData {
  const line = (text: string): string => safeLine(text, said, 2000);
  const lines = (items: readonly string[]): string[] => items.slice(0, mostItems).map(line).filter(Boolean);
  switch (kind) {
    case "text":
      return { kind, text: safeMarkdown(parse(kind, answer).text, said) };
    case "bullets":
      return { kind, items: lines(parse(kind, answer).items) };
    case "checklist": {
      const items = parse(kind, answer).items.slice(0, mostItems);
      return {
        kind,
        items: items
          .map(({ text, checked }) => ({ text: line(text), checked }))
          .filter(({ text }) => text !== ""),
      };
    }
    case "table": {
      const table = parse(kind, answer);
      const columns = table.columns.slice(0, mostColumns).map(line);
      const rows = table.rows
        .slice(0, mostItems)
        .map((row) => columns.map((_, index) => line(row[index] ?? "")))
        .filter((row) => row.some((cell) => cell !== ""));
      return columns.length === 0 ? { kind, columns: [], rows: [] } : { kind, columns, rows };
    }
    case "question-answer": {
      const items = parse(kind, answer).items.slice(0, mostItems);
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

/** Whether there is nothing in it, so that the recording does without. */
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

/** As Markdown (CommonMark; tables and checklists as GitHub has them). */
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

/** A bar would begin another cell, also in code. A backslash before it would undo the one that protects it. */
function markdownCell(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("|", "\\|");
}

/** As plain text for people. */
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

/** Takes the marks of Markdown out; lists keep their dashes, which are plain text as well. */
function withoutMarks(markdown: string): string {
  return markdown
    .replace(/^ {0,3}#{1,6}[ \t]+/gm, "")
    .replace(/^ {0,3}(?:```|~~~).*\n?/gm, "")
    .replace(/^ {0,3}> ?/gm, "")
    .replace(/(\*\*\*|\*\*|__|~~)(?=\S)([^\n]*?\S)\1/g, "$2")
    .replace(/(?<![\p{L}\p{N}*_])([*_])(?=\S)([^\n*_]*?\S)\1(?![\p{L}\p{N}*_])/gu, "$2")
    .replace(/`([^`\n]+)`/g, "$1")
    .replace(/^([ \t]*)[*+][ \t]+/gm, "$1- ")
    .replace(/&lt;/g, "<")
    .trim();
}
