import { basename, dirname } from "node:path";
import { Source } from "../../../../contract/recordings/recordings.ts";
import { isTranscript, transcriptExtensions } from "../../../../shared/files/file-groups.ts";
import { foldName } from "../../../../shared/fold-case.ts";
import { type DateOrder, dateOrderOf, readWrittenTime } from "../../../../shared/times/written-time.ts";
import { readTable } from "./csv-table.ts";
import {
  collectNotes,
  mediaTypeOf,
  type Note,
  originOf,
  pathBelow,
  readSubtitles,
  readTextFile,
  recordingOf,
  shortHash,
} from "./disk.ts";
import { readDuration } from "./duration.ts";
import { ImportError, RecordingError } from "./errors.ts";
import type { ImportSource, SourceItem } from "./source.ts";

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

/** What holds for the rows of one list. */
interface List {
  readonly folder: string;
  readonly note: Note;
  /** How its dates are written; null: they don't show it. */
  readonly order: DateOrder | null;
}

/**
 * A CSV file with a row for each recording. Columns are found by the names of the fields, or by `columns`, as in
 * "title=Meeting,start=Date". Files are named relative to the CSV file.
 * @throws ImportError when the file or the mapping can't be read.
 */
export async function csv(path: string, columns: string | null): Promise<ImportSource> {
  const { text, encoding, isAssumed } = await readTextFile(path).catch((error: Error) => {
    throw new ImportError(error.message);
  });
  const mapping = readMapping(columns);
  const { header, rows } = readTable(text, [...fields, ...mapping.values()]);
  const indexOf = mapColumns(header, mapping);
  if (rows.length === 0) throw new ImportError(`${basename(path)} has no rows below its header`);
  const getterOf =
    (cells: readonly string[]) =>
    (field: Field): string =>
      cells[indexOf.get(field) ?? -1]?.trim() ?? "";
  const starts = rows.map(({ cells }) => getterOf(cells)("start"));
  const order = dateOrderOf(starts);
  const isLocal = starts.some((start) => {
    const read = readWrittenTime(start, { order });
    return "at" in read && read.isLocal;
  });
  const notes = collectNotes();
  const list: List = { folder: dirname(path), note: notes.add, order };
  const unused = header.filter((name, index) => name.trim() !== "" && ![...indexOf.values()].includes(index));
  return {
    kind: "csv",
    // Several lists may be in one folder.
    origin: `${await originOf(path)}/${basename(path)}`,
    isLocal: true,
    emails: async () => null,
    notes: () => [
      ...(isAssumed
        ? [
            `${basename(path)} is not all UTF-8 and is read as ${encoding}; if letters are wrong, save it as UTF-8`,
          ]
        : []),
      ...(order === null ? [] : [`dates such as 03/04/2026 are read ${order}, as others of the list show`]),
      ...(isLocal
        ? [
            `times without a zone are read in ${Intl.DateTimeFormat().resolvedOptions().timeZone}; set TZ if they are of another zone`,
          ]
        : []),
      ...(unused.length === 0 ? [] : [`columns that are not used: ${unused.join(", ")}`]),
      ...notes.list(),
    ],
    async *list() {
      /** The line on which an id is first. */
      const lineOf = new Map<string, number>();
      for (const { line, cells } of rows) {
        const get = getterOf(cells);
        const media = get("media");
        const id = get("id") || rowId(get);
        const first = lineOf.get(id);
        if (first === undefined) lineOf.set(id, line);
        yield {
          // Its own id, so that the first row is imported.
          oldId: first === undefined ? id : `${id} (line ${line})`,
          mediaType: media === "" ? "transcript" : mediaTypeOf(media),
          load: async () => {
            if (first !== undefined)
              throw new RecordingError(
                get("id") === ""
                  ? `line ${line} repeats line ${first}; remove one, or add a column id`
                  : `line ${line} has the same id as line ${first}; each row needs its own`,
              );
            if (cells.slice(header.length).some((cell) => cell.trim() !== ""))
              throw new RecordingError(
                `line ${line} has ${cells.length} cells and the header ${header.length}; put quotes around cells that contain the separator`,
              );
            return loadRow(list, get);
          },
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

async function loadRow({ folder, note, order }: List, get: (field: Field) => string) {
  const start = readWrittenTime(get("start"), { order });
  if ("problem" in start) throw new RecordingError(`the start "${get("start")}" ${start.problem}`);
  const [media, transcript] = [get("media"), get("transcript")];
  if (transcript !== "" && !isTranscript(transcript))
    throw new RecordingError(
      `${transcript} is not a transcript; use ${transcriptExtensions.map((extension) => `.${extension}`).join(", ")}`,
    );
  const language = get("language");
  const { entries, unreadLines } =
    transcript === ""
      ? { entries: [], unreadLines: 0 }
      : await readSubtitles(await pathBelow(folder, transcript), { language: language || undefined, note });
  const durationMs = readDuration(get("duration") || "0", "seconds");
  const recording = recordingOf({
    id: get("id") || media,
    title: get("title"),
    start: new Date(start.at),
    durationMs: durationMs ?? 0,
    people: listOf(get("participants")).map(readPerson),
    recorderEmail: get("recorder") || null,
    entries,
    media: media === "" ? null : await pathBelow(folder, media),
    tags: listOf(get("tags")),
    summary: get("summary") || null,
    language: language || null,
    source: Source.catch("other").parse(get("source").toLowerCase() || "other"),
  });
  return {
    ...recording,
    omitted: {
      ...(durationMs === null ? { unreadable_duration: 1 } : {}),
      ...(unreadLines === 0 ? {} : { unread_lines: unreadLines }),
    },
  };
}

/** The option `--columns`: which column has which field. */
function readMapping(columns: string | null): ReadonlyMap<Field, string> {
  const mapping = new Map<Field, string>();
  // Names of columns may contain commas.
  for (const pair of (columns ?? "").split(/,(?=\s*\w+\s*=)/).filter((one) => one.trim() !== "")) {
    const [name = "", ...column] = pair.split("=");
    const field = fields.find((one) => one === name.trim());
    if (field === undefined)
      throw new ImportError(`${name.trim()} is not a field; use: ${fields.join(", ")}`);
    mapping.set(field, column.join("=").trim());
  }
  return mapping;
}

/** Which column has which field. */
function mapColumns(
  header: readonly string[],
  mapping: ReadonlyMap<Field, string>,
): ReadonlyMap<Field, number> {
  const names = header.map(foldName);
  const found = new Map<Field, number>();
  for (const field of fields) if (names.includes(field)) found.set(field, names.indexOf(field));
  for (const [field, name] of mapping) {
    if (!names.includes(foldName(name)))
      throw new ImportError(`the file has no column ${name}; it has: ${header.join(", ")}`);
    found.set(field, names.indexOf(foldName(name)));
  }
  if (!found.has("start"))
    throw new ImportError(
      `no column has the start; name it with --columns start=NAME. The file has: ${header.join(", ")}`,
    );
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
