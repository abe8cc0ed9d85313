import {
  AlignmentType,
  BorderStyle,
  Document,
  ExternalHyperlink,
  Footer,
  HeadingLevel,
  LevelFormat,
  PageNumber,
  Paragraph,
  type ParagraphChild,
  ShadingType,
  Table,
  TableCell,
  TableRow,
  TextRun,
  WidthType,
} from "docx";
import type { RecordingDocument } from "../../../contract/documents/document.ts";
import { documentPartWords, missingParts } from "../../../contract/documents/document-parts.ts";
import {
  type Block,
  type Inline,
  readBlocks,
  readInlines,
  withoutMarks,
} from "../../../shared/markdown/read.ts";
import { writtenTime } from "../../platform/language/written-time.ts";
import { momentUrl, timeOf } from "./moments.ts";

const gray = "5F6368";
const line = { style: BorderStyle.SINGLE, size: 4, color: "BDC1C6" };
const levels = [0, 1, 2, 3];
const numbers = "numbers";
const speakerStyle = "Speaker";
const wordsStyle = "Words";

/** Writes a document for Word. Spell checking uses the meeting's language; each paragraph has its text's direction. */
export function toWord(document: RecordingDocument, timeZone: string): Document {
  const locale = localeOf(document.language);
  const isRtl = rightToLeftScripts.includes(locale?.script ?? "");
  return new Document({
    title: clean(document.title),
    creator: "Parley",
    description: clean(document.url),
    styles: {
      default: {
        document: {
          run: {
            font: { ascii: "Calibri", hAnsi: "Calibri", cs: "Arial" },
            size: 22,
            sizeComplexScript: 22,
            ...(locale === null ? {} : { language: languagesOf(locale) }),
          },
          paragraph: { spacing: { after: 120, line: 276 } },
        },
        title: { run: { size: 44, sizeComplexScript: 44, bold: true, boldComplexScript: true } },
        heading1: {
          run: { size: 30, sizeComplexScript: 30, bold: true, boldComplexScript: true },
          paragraph: { keepNext: true, spacing: { before: 360, after: 120 } },
        },
        heading2: {
          run: { size: 25, sizeComplexScript: 25, bold: true, boldComplexScript: true },
          paragraph: { keepNext: true, spacing: { before: 240, after: 80 } },
        },
        heading3: {
          run: { size: 23, sizeComplexScript: 23, bold: true, boldComplexScript: true },
          paragraph: { keepNext: true, spacing: { before: 200, after: 80 } },
        },
      },
      paragraphStyles: [
        {
          id: speakerStyle,
          name: "Speaker",
          basedOn: "Normal",
          next: wordsStyle,
          run: { bold: true, boldComplexScript: true },
          paragraph: { keepNext: true, spacing: { before: 160, after: 0 } },
        },
        { id: wordsStyle, name: "Words", basedOn: "Normal", paragraph: { spacing: { after: 80 } } },
      ],
    },
    numbering: {
      config: [
        {
          reference: numbers,
          levels: levels.map((level) => ({
            level,
            format: LevelFormat.DECIMAL,
            text: `%${level + 1}.`,
            alignment: AlignmentType.START,
            style: { paragraph: { indent: { start: 720 * (level + 1), hanging: 360 } } },
          })),
        },
      ],
    },
    sections: [
      {
        footers: { default: new Footer({ children: [pageNumbers()] }) },
        children: bodyOf(document, timeZone, isRtl),
      },
    ],
  });
}

function pageNumbers(): Paragraph {
  return new Paragraph({
    alignment: AlignmentType.CENTER,
    children: [new TextRun({ color: gray, children: [PageNumber.CURRENT, " / ", PageNumber.TOTAL_PAGES] })],
  });
}

function bodyOf(document: RecordingDocument, timeZone: string, isRtl: boolean): (Paragraph | Table)[] {
  const { title, url, summary, action_items: items, chapters, highlights, transcript } = document;
  const missing = missingParts(document.missing);
  const heading = (text: string): Paragraph =>
    new Paragraph({ heading: HeadingLevel.HEADING_1, bidirectional: isRtl, children: [run(text)] });
  const section = (part: keyof typeof documentPartWords, content: readonly (Paragraph | Table)[]) =>
    content.length === 0 ? [] : [heading(documentPartWords[part].title), ...content];
  const moments = (list: RecordingDocument["chapters"]) =>
    list.map(({ text, timestamp }) =>
      paragraph(text, { bullet: { level: 0 } }, [
        link(timeOf(timestamp), momentUrl(url, timestamp)),
        run("  "),
      ]),
    );
  const lists = { count: 0 };
  return [
    paragraph(title, { heading: HeadingLevel.TITLE }),
    ...factsOf(document, timeZone, isRtl),
    ...(missing === null
      ? []
      : [new Paragraph({ bidirectional: isRtl, children: [new TextRun({ text: missing, italics: true })] })]),
    ...section(
      "summary",
      summary === null
        ? []
        : [
            ...fromMarkdown(summary.markdown, lists),
            ...summary.sections.flatMap((part) => [
              paragraph(part.title, { heading: HeadingLevel.HEADING_2 }),
              ...fromMarkdown(part.markdown, lists),
            ]),
          ],
    ),
    ...section("action_items", items.length === 0 ? [] : [itemTable(items, url, isRtl), new Paragraph({})]),
    ...section("chapters", moments(chapters)),
    ...section("highlights", moments(highlights)),
    ...section(
      "transcript",
      transcript.flatMap(({ speaker, timestamp, text }) => [
        paragraph(speaker, { style: speakerStyle }, [], {
          after: [run("  "), link(timeOf(timestamp), momentUrl(url, timestamp))],
        }),
        paragraph(text, { style: wordsStyle }),
      ]),
    ),
  ];
}

function factsOf(document: RecordingDocument, timeZone: string, isRtl: boolean): Paragraph[] {
  const date = writtenTime("en", new Date(document.start_datetime), timeZone);
  const facts = [
    [date, timeOf(document.duration_ms), document.meeting_type ?? ""]
      .filter((fact) => fact !== "")
      .join(" · "),
    document.people.join(", "),
    document.tags.map((tag) => `#${tag}`).join(" "),
  ];
  return [
    ...facts
      .filter((fact) => fact !== "")
      .map((fact) => paragraph(fact, { spacing: { after: 40 } }, [], { color: gray })),
    new Paragraph({ bidirectional: isRtl, children: [link(document.url, document.url)] }),
  ];
}

function itemTable(items: RecordingDocument["action_items"], url: string, isRtl: boolean): Table {
  const hasAssignee = items.some(({ assignee }) => assignee !== null);
  const hasDate = items.some(({ due_date }) => due_date !== null);
  const rows = items.map((item): (ParagraphChild[] | string)[] => [
    item.is_done ? "☑" : "☐",
    item.text,
    ...(hasAssignee ? [item.assignee ?? ""] : []),
    ...(hasDate ? [item.due_date ?? ""] : []),
    [link(timeOf(item.timestamp), momentUrl(url, item.timestamp))],
  ]);
  const widths = [
    { head: "Done", percent: 10 },
    { head: "Action item", percent: 76 - (hasAssignee ? 20 : 0) - (hasDate ? 15 : 0) },
    ...(hasAssignee ? [{ head: "Assignee", percent: 20 }] : []),
    ...(hasDate ? [{ head: "Due", percent: 15 }] : []),
    { head: "Moment", percent: 14 },
  ];
  return table(
    widths.map(({ head }) => head),
    rows,
    isRtl,
    widths.map(({ percent }) => percent),
  );
}

function table(
  head: readonly string[],
  rows: readonly (readonly (string | ParagraphChild[])[])[],
  isRtl: boolean,
  percents: readonly number[] = head.map(() => Math.floor(100 / head.length)),
): Table {
  const cell = (content: string | ParagraphChild[], column: number, isHead = false): TableCell =>
    new TableCell({
      width: { size: percents[column] ?? 0, type: WidthType.PERCENTAGE },
      margins: { top: 60, bottom: 60, left: 100, right: 100 },
      ...(isHead ? { shading: { type: ShadingType.CLEAR, fill: "F1F3F4" } } : {}),
      children: [
        typeof content === "string"
          ? paragraph(content, { spacing: { after: 0 } }, [], { bold: isHead })
          : new Paragraph({ spacing: { after: 0 }, bidirectional: isRtl, children: content }),
      ],
    });
  return new Table({
    width: { size: 100, type: WidthType.PERCENTAGE },
    borders: {
      top: line,
      bottom: line,
      left: line,
      right: line,
      insideHorizontal: line,
      insideVertical: line,
    },
    visuallyRightToLeft: isRtl,
    rows: [
      new TableRow({
        tableHeader: true,
        cantSplit: true,
        children: head.map((text, i) => cell(text, i, true)),
      }),
      ...rows.map(
        (cells) => new TableRow({ cantSplit: true, children: cells.map((text, i) => cell(text, i)) }),
      ),
    ],
  });
}

/** @param lists counts the numbered lists, each of which begins with 1. */
function fromMarkdown(markdown: string, lists: { count: number }): (Paragraph | Table)[] {
  return readBlocks(markdown).flatMap((block) => fromBlock(block, lists));
}

function fromBlock(block: Block, lists: { count: number }): (Paragraph | Table)[] {
  switch (block.kind) {
    case "heading":
      return [
        rich(block.text, { heading: block.level <= 2 ? HeadingLevel.HEADING_2 : HeadingLevel.HEADING_3 }),
      ];
    case "list": {
      if (block.isOrdered) lists.count += 1;
      const instance = lists.count;
      return block.items.map(({ depth: level, text, isDone }) =>
        rich(isDone === null ? text : `${isDone ? "☑" : "☐"} ${text}`, {
          spacing: { after: 40 },
          ...(block.isOrdered
            ? { numbering: { reference: numbers, level, instance } }
            : isDone === null
              ? { bullet: { level } }
              : { indent: { start: 360 * (level + 1) } }),
        }),
      );
    }
    case "table":
      return [
        table(
          block.head.map((cell) => withoutMarks(cell)),
          block.rows.map((row) => row.map((text) => inlinesOf(text))),
          isRightToLeft(block.head.join(" ")),
        ),
        new Paragraph({}),
      ];
    case "quote":
      return [rich(block.text, { indent: { start: 400 } })];
    case "code":
      return block.text.split("\n").map(
        (line) =>
          new Paragraph({
            spacing: { after: 0 },
            children: [new TextRun({ text: clean(line), font: "Consolas", noProof: true })],
          }),
      );
    case "rule":
      return [new Paragraph({ thematicBreak: true })];
    default:
      return [rich(block.text, {})];
  }
}

type ParagraphOptions = Omit<Exclude<ConstructorParameters<typeof Paragraph>[0], string>, "children">;

interface Look {
  readonly bold?: boolean;
  readonly color?: string;
  /** What follows the text. */
  readonly after?: readonly ParagraphChild[];
}

function paragraph(
  text: string,
  options: ParagraphOptions,
  before: readonly ParagraphChild[] = [],
  { after = [], ...look }: Look = {},
): Paragraph {
  return new Paragraph({
    ...options,
    bidirectional: isRightToLeft(text),
    children: [...before, run(text, look), ...after],
  });
}

/** A paragraph of Markdown. */
function rich(text: string, options: ParagraphOptions): Paragraph {
  return new Paragraph({ ...options, bidirectional: isRightToLeft(text), children: inlinesOf(text) });
}

function inlinesOf(text: string): ParagraphChild[] {
  return text
    .split("\n")
    .flatMap((line, i) => [
      ...(i === 0 ? [] : [new TextRun({ break: 1 })]),
      ...readInlines(line).map(inlineOf),
    ]);
}

function inlineOf(part: Inline): ParagraphChild {
  switch (part.kind) {
    case "link":
      return link(part.text, part.url);
    case "bold":
      return run(part.text, { bold: true });
    case "italic":
      return new TextRun({ text: clean(part.text), italics: true, rightToLeft: isRightToLeft(part.text) });
    case "code":
      return new TextRun({ text: clean(part.text), font: "Consolas", noProof: true });
    default:
      return run(part.text);
  }
}

function run(text: string, { bold = false, color }: Pick<Look, "bold" | "color"> = {}): TextRun {
  return new TextRun({
    text: clean(text),
    ...(bold ? { bold, boldComplexScript: true } : {}),
    ...(color === undefined ? {} : { color }),
    ...(isRightToLeft(text) ? { rightToLeft: true } : {}),
  });
}

function link(text: string, url: string): ExternalHyperlink {
  return new ExternalHyperlink({
    link: clean(url),
    children: [new TextRun({ text: clean(text), style: "Hyperlink", bold: false, noProof: true })],
  });
}

const rightToLeftScripts = ["Hebr", "Arab", "Syrc", "Thaa", "Nkoo"];
const eastAsianScripts = ["Jpan", "Hans", "Hant", "Kore"];

/** A language with its script and region; null where it is not known. */
function localeOf(language: string | null): Intl.Locale | null {
  try {
    return language === null ? null : new Intl.Locale(language).maximize();
  } catch {
    return null;
  }
}

/** The language of spell checking, and of the font for Chinese, Japanese and Korean text. */
function languagesOf({ language, script = "", region }: Intl.Locale) {
  const tag = region === undefined ? language : `${language}-${region}`;
  if (rightToLeftScripts.includes(script)) return { value: "en-US", bidirectional: tag };
  return eastAsianScripts.includes(script) ? { value: "en-US", eastAsia: tag } : { value: tag };
}

/** Without characters that XML can't contain. Source: https://www.w3.org/TR/xml/#charsets */
function clean(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed.
  return text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "");
}

/** Whether the first letter of a text is of a script that is written from right to left. */
function isRightToLeft(text: string): boolean {
  const letter = /\p{L}/u.exec(text)?.[0] ?? "";
  return /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u.test(letter);
}
