import { basename, dirname, extname } from "node:path";
import { Source } from "../../../contract/recordings.ts";
import { ImportError, RecordingError } from "../move/errors.ts";
import type { ImportSource, SourceItem } from "../move/source.ts";
import {
  clockMs,
  mediaTypeOf,
  originOf,
  pathBelow,
  readSubtitles,
  readText,
  recordingOf,
  shortHash,
} from "./disk.ts";

/** What a column can have. */
const fields = [
  "id",
  "title",
  "start",
  "duration",
  "media",
  "transcript",
  "participants",
  "recorder",
  "tags",
  "summary",
  "language",
  "source",
] as const;
type Field = (typeof fields)[number];

/**
 * A CSV file with a row for each recording. Columns are found by the names of the fields, or by `columns`, as in
 * "title=Meeting,start=Date". Files are named relative to the CSV file.
 * @throws ImportError when the file or the mapping can't be read.
 */
export async function csv(path: string, columns: string | null): Promise<ImportSource> {
  const [header = [], ...rows] = parseCsv(
    await readText(path).catch((error: Error) => {
      throw new ImportError(error.message);
    }),
  );
  const indexOf = mapColumns(header, columns);
  const folder = dirname(path);
  return {
    kind: "csv",
    // Several lists may be in one folder.
    origin: `${await originOf(path)}/${basename(path)}`,
    emails: async () => null,
    async *list() {
      for (const row of rows) {
        const get = (field: Field): string => row[indexOf.get(field) ?? -1]?.trim() ?? "";
        if (row.every((cell) => cell.trim() === "")) continue;
        const media = get("media");
        yield {
          oldId: get("id") || rowId(get),
          mediaType: media === "" ? "transcript" : mediaTypeOf(media),
          load: () => loadRow(folder, get),
        } satisfies SourceItem;
      }
    },
  };
}

/** Tells rows without an id apart, also when rows are added or sorted. */
function rowId(get: (field: Field) => string): string {
  const [media, title, start, transcript] = [get("media"), get("title"), get("start"), get("transcript")];
  return `${media || title || "row"} ${shortHash(JSON.stringify([start, title, media, transcript]))}`;
}

async function loadRow(folder: string, get: (field: Field) => string) {
  const start = new Date(get("start"));
  if (Number.isNaN(start.getTime())) throw new RecordingError(`the start "${get("start")}" is not a date`);
  const [media, transcript] = [get("media"), get("transcript")];
  if (transcript !== "" && ![".vtt", ".srt"].includes(extname(transcript).toLowerCase()))
    throw new RecordingError(`${transcript} is not a .vtt or .srt file`);
  return recordingOf({
    id: get("id") || media,
    title: get("title"),
    start,
    durationMs: get("duration").includes(":")
      ? clockMs(get("duration"))
      : (Number(get("duration")) || 0) * 1000,
    people: listOf(get("participants")).map(readPerson),
    recorderEmail: get("recorder") || null,
    entries: transcript === "" ? [] : await readSubtitles(await pathBelow(folder, transcript)),
    media: media === "" ? null : await pathBelow(folder, media),
    tags: listOf(get("tags")),
    summary: get("summary") || null,
    language: get("language") || null,
    source: Source.catch("other").parse(get("source")),
  });
}

/** Which column has which field. */
function mapColumns(header: readonly string[], columns: string | null): ReadonlyMap<Field, number> {
  const fold = (name: string): string => name.trim().toLowerCase();
  const names = header.map(fold);
  const found = new Map<Field, number>();
  for (const field of fields) if (names.includes(field)) found.set(field, names.indexOf(field));
  for (const pair of (columns ?? "").split(",").filter((one) => one.trim() !== "")) {
    const [field = "", name = ""] = pair.split("=", 2).map((part) => part.trim());
    const known = fields.find((one) => one === field);
    if (known === undefined) throw new ImportError(`${field} is not a field; use: ${fields.join(", ")}`);
    if (!names.includes(fold(name)))
      throw new ImportError(`the file has no column ${name}; it has: ${header.join(", ")}`);
    found.set(known, names.indexOf(fold(name)));
  }
  if (!found.has("start"))
    throw new ImportError("no column has the start; name it with --columns start=NAME");
  return found;
}

function listOf(text: string): string[] {
  return text
    .split(";")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/** `Ada <ada@example.com>`, an email or a name. */
function readPerson(text: string): { name: string; email: string | null } {
  const open = text.lastIndexOf("<");
  if (open !== -1 && text.endsWith(">"))
    return { name: text.slice(0, open).trim(), email: text.slice(open + 1, -1).trim() };
  return { name: text, email: text.includes("@") ? text : null };
}

/** The rows of a CSV file with commas, or with semicolons if the first line has no comma. Source: RFC 4180. */
function parseCsv(file: string): string[][] {
  const text = file.replace(/^\ufeff/, "");
  const firstLine = text.slice(0, Math.max(0, text.indexOf("\n")));
  const separator = !firstLine.includes(",") && firstLine.includes(";") ? ";" : ",";
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let isQuoted = false;
  const endRow = (): void => {
    row.push(cell);
    rows.push(row);
    [row, cell] = [[], ""];
  };
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? "";
    if (isQuoted) {
      if (char !== '"') cell += char;
      else if (text[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else isQuoted = false;
    } else if (char === '"' && cell === "") isQuoted = true;
    else if (char === separator) {
      row.push(cell);
      cell = "";
    } else if (char === "\n") endRow();
    else if (char !== "\r") cell += char;
  }
  if (cell !== "" || row.length > 0) endRow();
  return rows;
}
