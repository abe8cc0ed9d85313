import type { Point } from "../../../../contract/recordings/points.ts";
import { maxPoints, pointText, provenPoints, renderPoints } from "./points.ts";
import { keepProven, type Prove, type Proven } from "./proofs.ts";
import { type Said, safeLine } from "./sanitize.ts";
import {
  type Cited,
  type DataKind,
  type SectionAnswer,
  type SectionKindName,
  sectionAnswers,
} from "./schemas.ts";

/**
 * A section as stored with the recording: its data as JSON, and both renderings for the include's `format`. Source: contract.md, AI Template Section: "The fields of data depend on the section type; those fields: not
 * shown"; docs/guide/language-model.md has them.
 */
export interface StoredSection {
  readonly title: string;
  readonly data: SectionData;
  readonly markdown: string;
  readonly text: string;
  /** Its points, or each item or row with its proof, in their order; absent in sections of earlier versions. */
  readonly points?: readonly Point[];
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

export const maxColumns = 20;

/** A section of proven entries, and how many were left out. */
export interface ProvenSection extends Pick<Proven<unknown>, "unproven" | "beyond"> {
  readonly data: SectionData;
  readonly points: readonly Point[];
  readonly columnsBeyond: number;
}

/**
 * Turns a model's response into the data of a section: proven, sanitized, of limited size, with rows as wide as the table.
 * @param answer the model's response, which matches the schema of the kind.
 */
export function proveSection(
  kind: SectionKindName,
  answer: unknown,
  { from, prove, said }: { readonly from: DataKind; readonly prove: Prove; readonly said: Said },
): ProvenSection {
  const line = (text: string): string => safeLine(text, said, 2000);
  /** @param read what an entry of the response is in the section, and what it says in one line. */
  const keep = <A extends Cited, E>(
    answered: readonly A[],
    read: (entry: A) => { readonly entry: E; readonly text: string },
  ) =>
    keepProven(answered, maxPoints, prove, (one: A) => {
      const value = read(one);
      return value.text === "" ? null : { heading: null, ...value };
    });
  const section = (data: SectionData, { kept, unproven, beyond }: Proven<Named>, columnsBeyond = 0) => ({
    data,
    points: kept.map(({ heading, text, quote, start }) => ({ heading, text, quote, start })),
    ...{ unproven, beyond, columnsBeyond },
  });
  switch (kind) {
    case "text": {
      const points = provenPoints(parse(from, kind, answer).items, prove, said);
      return section({ kind, text: renderPoints(points.kept) }, points);
    }
    case "bullets": {
      const items = keep(parse(from, kind, answer).items, (item) => {
        const text = pointText(item.text, said);
        return { entry: text, text };
      });
      return section({ kind, items: items.kept.map(({ entry }) => entry) }, items);
    }
    case "checklist": {
      const items = keep(parse(from, kind, answer).items, ({ checked, ...item }) => {
        const text = pointText(item.text, said);
        return { entry: { text, checked }, text };
      });
      return section({ kind, items: items.kept.map(({ entry }) => entry) }, items);
    }
    case "table": {
      const table = parse(from, kind, answer);
      const columns = table.columns.slice(0, maxColumns).map(line);
      const rows = keep(columns.length === 0 ? [] : table.rows, ({ cells }) => {
        const entry = columns.map((_, index) => line(cells[index] ?? ""));
        return { entry, text: entry.filter((cell) => cell !== "").join(" | ") };
      });
      const data = { kind, columns, rows: rows.kept.map(({ entry }) => entry) };
      return section(data, rows, table.columns.length - columns.length);
    }
    case "question-answer": {
      const items = keep(parse(from, kind, answer).items, (item) => {
        const [question, reply] = [line(item.question), line(item.answer)];
        return {
          entry: { question, answer: reply },
          text: question === "" ? "" : `${question} ${reply}`.trim(),
        };
      });
      return section({ kind, items: items.kept.map(({ entry }) => entry) }, items);
    }
  }
}

type Named = Pick<Point, "heading" | "text">;

function parse<K extends SectionKindName>(from: DataKind, kind: K, answer: unknown): SectionAnswer<K> {
  return sectionAnswers[from][kind].parse(answer) as SectionAnswer<K>;
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

export function toStoredSection(
  title: string,
  { data, points }: Pick<ProvenSection, "data" | "points">,
): StoredSection {
  return { title, data, markdown: renderMarkdown(data), text: renderText(data), points };
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
