import { CsvError, type Info, parse } from "csv-parse/sync";
import { foldName } from "../../../../shared/fold-case.ts";
import { ImportError } from "./errors.ts";

/** A row with the line of the file on which it ends. */
export interface TableRow {
  readonly line: number;
  readonly cells: readonly string[];
}

/** Longer rows mean that a quote is not closed. */
const maxRowCharacters = 5_000_000;

const separators = [",", ";", "\t", "|"] as const;

/** The first line of lists that Excel reads everywhere in the same way, such as `sep=;`. */
const separatorLine = /^"?sep=([^\r\n"])"?[,;]*(?:\r\n|\r|\n|$)/i;

/**
 * Reads a list with the separator that its first line states, or with which its header has most of the wanted columns.
 * @throws ImportError when a quote is not closed, or there is nothing.
 */
export function readTable(
  text: string,
  wanted: readonly string[],
): { readonly header: readonly string[]; readonly rows: readonly TableRow[] } {
  const stated = separatorLine.exec(text);
  const body = stated === null ? text : text.slice(stated[0].length);
  const names = new Set(wanted.map(foldName));
  const score = (separator: string): number => {
    const [header = []] = read(body, separator, 1).map(({ cells }) => cells);
    return header.filter((name) => names.has(foldName(name))).length * 1000 + Math.min(header.length, 999);
  };
  try {
    const separator = stated?.[1] ?? separators.toSorted((a, b) => score(b) - score(a))[0] ?? ",";
    const [header, ...rows] = read(body, separator);
    if (header === undefined) throw new ImportError("the list is empty");
    const before = stated === null ? 0 : 1;
    return {
      header: header.cells,
      rows: rows.map(({ line, cells }) => ({ line: line + before, cells })),
    };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new ImportError(`the list can't be read: ${error.message}`);
  }
}

function read(text: string, separator: string, count?: number): TableRow[] {
  // The types of csv-parse don't know what `info` adds.
  const rows: readonly unknown[] = parse(text, {
    delimiter: separator,
    // Programs mix them, and a file of an old Mac has only the second.
    record_delimiter: ["\r\n", "\r", "\n"],
    info: true,
    max_record_size: maxRowCharacters,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
    ...(count === undefined ? {} : { to: count }),
  });
  return (rows as readonly { readonly info: Info; readonly record: string[] }[]).map(({ info, record }) => ({
    line: info.lines,
    cells: record,
  }));
}
