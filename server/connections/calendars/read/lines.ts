import { aboutCalendar } from "../wording.ts";
/** A component of a calendar, as it is written. */
export interface Component {
  readonly name: string;
  /** Without those of components within it, unless it is a VTIMEZONE. */
  readonly lines: readonly string[];
  /** Whether the file ends in the middle of it. */
  readonly isCut: boolean;
  /** Whether its calendar is a message that cancels what is in it. */
  readonly isCancelled: boolean;
}

export interface CalendarLines {
  /** Properties of the calendar itself. */
  readonly properties: readonly string[];
  readonly components: readonly Component[];
}

/** The file is no calendar. The message is for users. */
export class NotCalendarError extends Error {
  override readonly name = "NotCalendarError";
}

/** Components of which a calendar consists. Another of them within one means that an END is missing. */
const outer = new Set(["VEVENT", "VTODO", "VJOURNAL", "VFREEBUSY", "VTIMEZONE", "VAVAILABILITY"]);

/** Splits a file into components. @throws NotCalendarError */
export function splitCalendar(bytes: Uint8Array): CalendarLines {
  // PostgreSQL can't store the character NUL.
  const lines = unfold(bytes).map((line) => line.replaceAll("\0", ""));
  if (!lines.some((line) => /^BEGIN:VCALENDAR\s*$/i.test(line))) throw notCalendar(lines);
  const splitter = new Splitter();
  for (const line of lines) {
    // Bounded: one group without a repetition of repetitions.
    const [, kind, name = ""] = /^(BEGIN|END):\s*([A-Z0-9-]+)\s*$/i.exec(line) ?? [];
    if (kind === undefined) splitter.property(line);
    else if (kind.toUpperCase() === "BEGIN") splitter.begin(name.toUpperCase(), line);
    else splitter.end(name.toUpperCase(), line);
  }
  splitter.close(true);
  return splitter;
}

class Splitter implements CalendarLines {
  readonly properties: string[] = [];
  readonly components: Component[] = [];
  #open: { readonly name: string; readonly lines: string[] } | null = null;
  /** Components that are open within it. */
  #depth = 0;
  /** Of the VCALENDAR that is open; a file may have several. */
  #isCancelled = false;

  property(line: string): void {
    if (this.#open === null) {
      this.properties.push(line);
      // Source: RFC 5546, "3.2.5".
      if (/^METHOD:\s*CANCEL\s*$/i.test(line)) this.#isCancelled = true;
    } else if (this.#depth === 0 || this.#open.name === "VTIMEZONE") this.#open.lines.push(line);
  }

  begin(name: string, line: string): void {
    if (outer.has(name) || name === "VCALENDAR") {
      this.close(false);
      if (name === "VCALENDAR") this.#isCancelled = false;
      else this.#open = { name, lines: [] };
    } else if (this.#open !== null) {
      this.#depth += 1;
      if (this.#open.name === "VTIMEZONE") this.#open.lines.push(line);
    }
  }

  end(name: string, line: string): void {
    if (name === "VCALENDAR" || name === this.#open?.name) this.close(false);
    else if (this.#open !== null && this.#depth > 0) {
      this.#depth -= 1;
      if (this.#open.name === "VTIMEZONE") this.#open.lines.push(line);
    }
  }

  close(isCut: boolean): void {
    if (this.#open !== null) this.components.push({ ...this.#open, isCut, isCancelled: this.#isCancelled });
    this.#open = null;
    this.#depth = 0;
  }
}

/** Lines as they were before they were folded, which may be in the middle of a character. */
function unfold(bytes: Uint8Array): string[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (text[0] === 0xff && text[1] === 0xfe) return unfoldText(new TextDecoder("utf-16le").decode(text));
  if (text[0] === 0xfe && text[1] === 0xff) return unfoldText(new TextDecoder("utf-16be").decode(text));
  const whole = Buffer.from(unfoldText(text.toString("latin1")).join("\n"), "latin1");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(whole).split("\n");
  } catch {
    return whole.toString("latin1").split("\n").map(decodeLine);
  }
}

/** A line in UTF-8 or, if it isn't that, in the encoding of old programs for Windows. */
function decodeLine(latin1: string): string {
  const bytes = Buffer.from(latin1, "latin1");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes).replace(/^ï»¿/, "");
  }
}

function unfoldText(text: string): string[] {
  return text
    .replace(/\r+\n?/g, "\n")
    .replace(/\n[ \t]/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "");
}

function notCalendar(lines: readonly string[]): NotCalendarError {
  const start = (lines[0] ?? "").trimStart().toLowerCase();
  if (start.startsWith("<")) return new NotCalendarError(aboutCalendar("calendar_web_page", {}));
  if (lines.length === 0) return new NotCalendarError(aboutCalendar("calendar_empty", {}));
  return new NotCalendarError(aboutCalendar("calendar_not_ics", {}));
}
