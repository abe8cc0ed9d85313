import { createHash } from "node:crypto";
import ICAL from "ical.js";
import { RRuleTemporal } from "rrule-temporal";
import { calendarLimits } from "../../../../contract/calendars/calendars.ts";
import { sentenceOf, sentences } from "../../../../contract/sentences.ts";
import type { CalendarPerson, Invited, UnreadEvent } from "../../../platform/db/json-columns.ts";
import { type Component, splitCalendar } from "./lines.ts";
import { ianaName, type Zone, Zones } from "./zones.ts";

/** An event, or an instance of a series. */
interface ReadEvent {
  readonly key: string;
  readonly start: number;
  readonly end: number;
  readonly isAllDay: boolean;
  readonly isPrivate: boolean;
  readonly uid: string | null;
  readonly title: string | null;
  readonly organizer: CalendarPerson | null;
  readonly attendees: readonly Invited[];
}

export interface ReadCalendar {
  readonly name: string | null;
  readonly timeZone: string | null;
  readonly events: readonly ReadEvent[];
  readonly unread: number;
  readonly examples: readonly UnreadEvent[];
}

export interface ReadWindow {
  readonly from: number;
  readonly to: number;
  /** The IANA zone of times without a zone, unless the calendar names its own. */
  readonly timeZone: string;
  /** Whether a user chose it, so that the calendar's own doesn't matter. */
  readonly isZoneChosen: boolean;
}

const maxExamples = 20;
const maxTitle = 500;
const maxUid = 1000;
/** Periods and candidates of one rule, and milliseconds for the series of one calendar. */
const maxIterations = 5000;
const maxCandidates = 200_000;
const maxSeriesMs = 10_000;
/** Dates that one event lists. */
const maxDates = 5000;
/** People of all events of a calendar, so that small text can't become hundreds of megabytes. */
const maxPeople = 50_000;
/** Source: RFC 5321, "4.5.3.1.3". */
const maxEmail = 254;
/** The times that PostgreSQL is given: the years 1 to 9999. */
const [minTime, maxTime] = [-62_135_596_800_000, 253_402_300_799_999];

/** An entry can't be understood. The message says why. */
class UnreadError extends Error {}

/** A property as jCal: name, parameters, type, values. */
type Property = readonly [string, Readonly<Record<string, string | string[]>>, string, ...unknown[]];

type ZoneFinder = Pick<Zones, "utc" | "floating" | "days" | "find">;

/** A VEVENT whose properties were read. */
interface Entry {
  readonly uid: string | null;
  readonly start: Moment;
  readonly endOf: (start: Moment) => number;
  readonly rules: readonly string[];
  readonly added: readonly Moment[];
  readonly excluded: readonly Moment[];
  readonly instance: Moment | null;
  readonly isFromHere: boolean;
  readonly isCancelled: boolean;
  readonly isAllDay: boolean;
  readonly isPrivate: boolean;
  readonly sequence: number;
  readonly modified: string;
  readonly title: string | null;
  readonly organizer: CalendarPerson | null;
  readonly attendees: readonly Invited[];
}

/** A date or time as it is written, and its zone. */
interface Moment {
  readonly local: Temporal.PlainDateTime;
  readonly zone: Zone;
  readonly isDate: boolean;
  /** Of a period: its end, in milliseconds. */
  readonly end?: number;
}

const epochOf = ({ local, zone }: Moment): number => zone.toEpoch(local);

/**
 * Reads the events of a calendar in a window of time. What can't be understood is counted and reported, and nothing else is
 * left out for it.
 * @throws NotCalendarError when the file is none.
 */
export function readCalendar(bytes: Uint8Array, window: ReadWindow): ReadCalendar {
  const { properties, components } = splitCalendar(bytes);
  const own = textOf(properties, "X-WR-TIMEZONE");
  const timeZone = own === null ? null : ianaName(own);
  const zones = new Zones(
    definitions(components),
    (window.isZoneChosen ? null : timeZone) ?? window.timeZone,
  );
  const report = new Report();
  const series = new Map<string, Entry[]>();
  const entries = components.filter(({ name }) => name === "VEVENT");
  for (const { lines } of entries) if (isPrivate(lines) && !isChange(lines)) report.addPrivate(lines);
  for (const component of entries) {
    report.try(component, () => {
      if (component.isCut) throw new UnreadError(sentences.event_cut);
      const entry = readEntry(component, zones, report);
      const name = entry.uid ?? hash(component.lines.join("\n"));
      const others = series.get(name);
      if (others === undefined) series.set(name, [entry]);
      else others.push(entry);
    });
  }
  const events: ReadEvent[] = [];
  const deadline = performance.now() + maxSeriesMs;
  let people = 0;
  for (const [name, versions] of series)
    for (const event of instancesOf(name, versions, window, { report, deadline })) {
      const more = event.attendees.length + (event.organizer === null ? 0 : 1);
      if (events.length >= calendarLimits.events)
        report.add(event.title, `the calendar has more than ${calendarLimits.events} events in this time`);
      else if (people + more > maxPeople)
        report.add(event.title, `the calendar's events have more than ${maxPeople} attendees in this time`);
      else {
        events.push(event);
        people += more;
      }
    }
  return {
    name: textOf(properties, "X-WR-CALNAME") ?? textOf(properties, "NAME"),
    timeZone,
    events,
    unread: report.count,
    examples: report.examples,
  };
}

class Report {
  count = 0;
  readonly examples: UnreadEvent[] = [];
  readonly #privateUids = new Set<string>();

  addPrivate(lines: readonly string[]): void {
    const uid = uidOf(lines);
    if (uid !== null) this.#privateUids.add(uid);
  }

  /** Whether an entry is private, or its series, whose class a change of one instance may lack. */
  isPrivate(lines: readonly string[]): boolean {
    const uid = uidOf(lines);
    return isPrivate(lines) || (uid !== null && this.#privateUids.has(uid));
  }

  add(title: string | null, reason: string): void {
    this.count += 1;
    if (this.examples.length < maxExamples) this.examples.push({ title, reason });
  }

  /** Runs the reading of an entry, which alone fails with it. */
  try(component: Component, read: () => void): void {
    try {
      read();
    } catch (error) {
      const title = this.isPrivate(component.lines) ? null : textOf(component.lines, "SUMMARY");
      this.add(title, error instanceof UnreadError ? error.message : sentences.event_invalid);
    }
  }
}

/** Whether a line says so. A class that can't be read counts as private. */
function isPrivate(lines: readonly string[]): boolean {
  return lines.some(
    // Bounded: one class without a repetition in it.
    (line) => /^\s*CLASS(?![A-Z0-9-])/i.test(line) && !/^CLASS(?:;[^:]*)?:\s*PUBLIC\s*$/i.test(line),
  );
}

/** Whether it is about one instance of a series. */
function isChange(lines: readonly string[]): boolean {
  return lines.some((line) => propertyName(line) === "RECURRENCE-ID");
}

function uidOf(lines: readonly string[]): string | null {
  return textOf(lines, "UID", maxUid);
}

function definitions(components: readonly Component[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const { name, lines } of components) {
    const id = name === "VTIMEZONE" ? textOf(lines, "TZID") : null;
    if (id !== null && !found.has(id))
      found.set(id, ["BEGIN:VTIMEZONE", ...lines, "END:VTIMEZONE"].join("\r\n"));
  }
  return found;
}

/** The text of the first property of this name; null: there is none, or an empty one. */
function textOf(lines: readonly string[], name: string, maxLength = maxTitle): string | null {
  for (const line of lines) {
    if (propertyName(line) !== name) continue;
    try {
      const value = parseLine(line)[3];
      if (typeof value === "string" && value.trim() !== "")
        return value.trim().slice(0, maxLength).toWellFormed();
    } catch {
      // Another line may have it.
    }
  }
  return null;
}

function propertyName(line: string): string {
  const end = line.search(/[;:]/);
  return (end < 0 ? line : line.slice(0, end)).trim().toUpperCase();
}

function parseLine(line: string): Property {
  const parsed: unknown = ICAL.parse.property(line);
  return parsed as Property;
}

/**
 * A property that says when, as ical.js reads it: its value in capitals and without the hyphens and colons of ISO 8601, with
 * seconds, and a zone whose name has a colon in quotes.
 */
function withPlainTime(line: string): string {
  const plain = line
    .trimEnd()
    .replace(
      /:(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2}))?(?:\.\d{1,9})?(Z?))?$/i,
      (_, year, month, day, hour, minute, second, z) =>
        `:${year}${month}${day}${hour === undefined ? "" : `T${hour}${minute}${second ?? "00"}${z}`}`,
    )
    .replace(/(\d{8}T\d{4})(Z?)$/i, "$100$2");
  const at = plain.lastIndexOf(":") + 1;
  const start = plain.slice(0, at);
  const isQuoted = start.includes('"') || !start.slice(0, -1).includes(":");
  return (
    (isQuoted ? start : start.replace(/;TZID=([^;]*):$/i, ';TZID="$1":')) +
    plain.slice(at).trim().toUpperCase()
  );
}

/** A property that may be left out has no value, as some programs write a list of no dates. */
function isEmpty(name: string, line: string): boolean {
  return name !== "RECURRENCE-ID" && /:\s*$/.test(line);
}

/** Properties that decide when an event is. */
const timeNames = new Set([
  "DTSTART",
  "DTEND",
  "DURATION",
  "RRULE",
  "RDATE",
  "EXDATE",
  "EXRULE",
  "RECURRENCE-ID",
]);
const otherNames = new Set([
  "UID",
  "SUMMARY",
  "STATUS",
  "CLASS",
  "SEQUENCE",
  "LAST-MODIFIED",
  "ORGANIZER",
  "ATTENDEE",
  "X-MICROSOFT-CDO-ALLDAYEVENT",
]);

/** The properties of an event that matter. */
class Properties {
  readonly #found = new Map<string, Property[]>();
  /** Names of lines that can't be read, none of which decides when the event is. */
  readonly damaged: string[] = [];

  constructor(lines: readonly string[]) {
    for (const line of lines) {
      const name = propertyName(line);
      if (timeNames.has(name) ? !isEmpty(name, line) : otherNames.has(name)) this.#add(name, line);
    }
  }

  #add(name: string, line: string): void {
    try {
      const property = parseLine(timeNames.has(name) ? withPlainTime(line) : line);
      const others = this.#found.get(name);
      if (others === undefined) this.#found.set(name, [property]);
      else others.push(property);
    } catch {
      if (timeNames.has(name)) throw new UnreadError(sentenceOf("event_property_unread", { name }));
      this.damaged.push(name);
    }
  }

  all(name: string): readonly Property[] {
    return this.#found.get(name) ?? [];
  }

  one(name: string): Property | undefined {
    return this.#found.get(name)?.[0];
  }

  text(name: string): string | null {
    const value = this.one(name)?.[3];
    const text = typeof value === "string" || typeof value === "number" ? String(value).trim() : "";
    return text === "" ? null : text;
  }
}

function readEntry({ lines, isCancelled }: Component, zones: Zones, report: Report): Entry {
  const properties = new Properties(lines);
  // A message that cancels an instance may name it alone.
  const dtstart = properties.one("DTSTART") ?? properties.one("RECURRENCE-ID");
  if (dtstart === undefined) throw new UnreadError(sentences.event_no_start);
  const start = readMoment(dtstart, zones);
  const ofStart = zonesOf(start, zones);
  if (properties.all("EXRULE").length > 0) throw new UnreadError(sentences.event_exrule);
  const uid = properties.text("UID");
  if (uid !== null && uid.length > maxUid) throw new UnreadError(sentences.event_uid_long);
  const isSecret = report.isPrivate(lines);
  const title = properties.text("SUMMARY")?.replace(/\s+/g, " ").slice(0, maxTitle).toWellFormed() ?? null;
  for (const name of properties.damaged)
    report.add(isSecret ? null : title, `one line of it (${name}) can't be read`);
  const recurrence = properties.one("RECURRENCE-ID");
  const { attendees, omitted } = readAttendees(properties.all("ATTENDEE"));
  if (omitted > 0 && !isSecret) report.add(title, `${omitted} of its attendees are left out`);
  return {
    uid,
    start,
    endOf: readLength(start, properties.one("DTEND"), properties.one("DURATION"), ofStart),
    rules: properties.all("RRULE").map((property) => ruleText(property)),
    added: readMoments(properties.all("RDATE"), ofStart),
    excluded: readMoments(properties.all("EXDATE"), ofStart),
    instance: recurrence === undefined ? null : readMoment(recurrence, ofStart),
    isFromHere: String(recurrence?.[1].range ?? "").toUpperCase() === "THISANDFUTURE",
    isCancelled: isCancelled || /^CANCELL?ED$/i.test(properties.text("STATUS") ?? ""),
    isAllDay: start.isDate || properties.text("X-MICROSOFT-CDO-ALLDAYEVENT")?.toUpperCase() === "TRUE",
    isPrivate: isSecret,
    sequence: Number(properties.text("SEQUENCE") ?? 0) || 0,
    modified: properties.text("LAST-MODIFIED") ?? "",
    title,
    organizer: readPerson(properties.one("ORGANIZER")),
    attendees,
  };
}

/** Zones in which a time without a zone is in that of the event's start. */
function zonesOf(start: Moment, zones: Zones): ZoneFinder {
  const { utc, days } = zones;
  return { utc, days, floating: start.isDate ? zones.floating : start.zone, find: (id) => zones.find(id) };
}

function readMoments(properties: readonly Property[], zones: ZoneFinder): Moment[] {
  const moments = properties.flatMap((property) =>
    property.slice(3).map((value) => readMoment(property, zones, value)),
  );
  if (moments.length > maxDates) throw new UnreadError(sentenceOf("event_many_dates", { count: maxDates }));
  return moments;
}

// Bounded: every repetition has a fixed count.
const datePattern = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2}):(\d{2})(Z?))?$/;

/** @param value of the property's values; default: the first. */
function readMoment(property: Property, zones: ZoneFinder, value: unknown = property[3]): Moment {
  if (Array.isArray(value)) return readPeriod(property, zones, value);
  const [name, parameters] = property;
  const written = String(value).replace(/T::$/, "");
  const parts = datePattern.exec(written);
  if (parts === null) throw new UnreadError(sentenceOf("event_not_date", { name: name.toUpperCase() }));
  const [, year, month, day, hour, minute, second, isUtc] = parts;
  let local: Temporal.PlainDateTime;
  try {
    local = Temporal.PlainDateTime.from(
      {
        ...{ year: Number(year), month: Number(month), day: Number(day) },
        // A leap second counts as the one before.
        ...{
          hour: Number(hour ?? 0),
          minute: Number(minute ?? 0),
          second: Math.min(Number(second ?? 0), 59),
        },
      },
      { overflow: "reject" },
    );
  } catch {
    throw new UnreadError(sentenceOf("event_no_such_date", { name: name.toUpperCase() }));
  }
  const isDate = hour === undefined;
  const { tzid } = parameters;
  if (isDate) return { local, zone: zones.days, isDate };
  if (isUtc === "Z") return { local, zone: zones.utc, isDate };
  if (tzid === undefined || tzid === "") return { local, zone: zones.floating, isDate };
  const zone = zones.find(String(tzid));
  if (zone === null)
    throw new UnreadError(sentenceOf("event_zone", { zone: String(tzid).slice(0, 100).toWellFormed() }));
  return { local, zone, isDate };
}

/** @param period its start, and its end or duration. */
function readPeriod(property: Property, zones: ZoneFinder, [from, to]: readonly unknown[]): Moment {
  const start = readMoment(property, zones, String(from));
  const written = String(to);
  const end = /^[+-]?P/.test(written)
    ? readDuration(written)(start)
    : epochOf(readMoment(property, zones, written));
  if (end < epochOf(start)) throw new UnreadError(sentences.event_ends_first);
  return { ...start, end };
}

// Bounded: each part occurs once.
const durationPattern =
  /^([+-]?)P(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,8})H)?(?:(\d{1,8})M)?(?:(\d{1,9})S)?)?$/;

/** How to find the end of each instance by its start. */
function readLength(
  start: Moment,
  dtend: Property | undefined,
  duration: Property | undefined,
  zones: ZoneFinder,
): Entry["endOf"] {
  if (dtend !== undefined) {
    const end = readMoment(dtend, zones);
    const ms = epochOf(end) - epochOf(start);
    if (ms < 0) throw new UnreadError(sentences.event_ends_first);
    // Days have no fixed length.
    const days =
      start.isDate && end.isDate ? start.local.until(end.local, { largestUnit: "days" }).days : null;
    if (days !== null) return ({ local, zone }) => zone.toEpoch(local.add({ days: Math.max(days, 1) }));
    return (at) => epochOf(at) + ms;
  }
  if (duration !== undefined) return readDuration(String(duration[3]));
  if (start.isDate) return ({ local, zone }) => zone.toEpoch(local.add({ days: 1 }));
  return epochOf;
}

/** Days follow the clock of the zone, and hours don't. */
function readDuration(written: string): Entry["endOf"] {
  const parts = durationPattern.exec(written);
  if (parts === null) throw new UnreadError(sentenceOf("event_property_unread", { name: "DURATION" }));
  const [, sign, weeks, days, hours, minutes, seconds] = parts;
  if (sign === "-") throw new UnreadError(sentences.event_ends_first);
  const ms = 1000 * (Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds ?? 0));
  const nominal = { days: 7 * Number(weeks ?? 0) + Number(days ?? 0) };
  return ({ local, zone }) => zone.toEpoch(local.add(nominal)) + ms;
}

/** A rule as it is written, because ical.js reads it into an object. */
function ruleText(property: Property): string {
  const value = property[3];
  // Of another calendar than the Gregorian one, which ical.js leaves out.
  if (typeof value !== "object" || value === null || "rscale" in value)
    throw new UnreadError(sentences.event_rule_unread);
  return ICAL.Recur.fromData(value as Parameters<typeof ICAL.Recur.fromData>[0]).toString();
}

// Bounded: one class without a repetition in it.
const emailPattern = /^[^\s@<>,;]{1,250}@[^\s@<>,;]{1,250}$/;

function readPerson(property: Property | undefined): CalendarPerson | null {
  if (property === undefined) return null;
  const [, parameters, , value] = property;
  const plain = withoutEscapes(
    String(value)
      .replace(/^mailto:/i, "")
      .trim(),
  );
  const candidates = [plain, String(parameters.email ?? "")];
  const email = candidates.find((text) => text.length <= maxEmail && emailPattern.test(text)) ?? null;
  const cn = String(parameters.cn ?? "")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, 200)
    .toWellFormed();
  const name = cn === "" || cn.toLowerCase() === email?.toLowerCase() ? null : cn;
  return name === null && email === null ? null : { name, email };
}

/** Source: RFC 6068, "2". */
function withoutEscapes(email: string): string {
  try {
    return decodeURIComponent(email);
  } catch {
    return email;
  }
}

/** The people among the attendees, each once. */
function readAttendees(properties: readonly Property[]): { attendees: Invited[]; omitted: number } {
  const found = new Map<string, Invited>();
  let omitted = 0;
  for (const property of properties) {
    const [, parameters] = property;
    if (["ROOM", "RESOURCE"].includes(String(parameters.cutype ?? "").toUpperCase())) continue;
    const person = readPerson(property);
    const key = person?.email?.toLowerCase() ?? person?.name;
    if (person === null || key == null || found.size >= calendarLimits.attendees) {
      omitted += 1;
      continue;
    }
    const hasDeclined = String(parameters.partstat ?? "").toUpperCase() === "DECLINED";
    if (!found.has(key)) found.set(key, { ...person, ...(hasDeclined ? { declined: true } : {}) });
  }
  return { attendees: [...found.values()], omitted };
}

interface Work {
  readonly report: Report;
  readonly deadline: number;
}

/** The instances of what has one UID: events, a series, and changes of its instances. */
function* instancesOf(
  name: string,
  entries: readonly Entry[],
  window: ReadWindow,
  work: Work,
): Generator<ReadEvent> {
  const masters = newest(entries.filter(({ instance }) => instance === null));
  const [series] = masters;
  const changes = newestChanges(withoutEnded(entries, masters), series);
  for (const [index, master] of masters.entries()) {
    if (master.isCancelled) continue;
    // Two events with one UID, of which neither is newer.
    const key = index === 0 ? name : `${name}\n${epochOf(master.start)}`;
    try {
      yield* within(seriesOf(key, master, changes, window, work), window);
    } catch (error) {
      const reason = error instanceof UnreadError ? error.message : sentences.event_rule_invalid;
      work.report.add(master.isPrivate ? null : master.title, reason);
    }
  }
  for (const [at, change] of changes)
    if (!change.isCancelled)
      try {
        yield* within([instanceOf(name, String(at), change, change.start)], window);
      } catch (error) {
        const reason = error instanceof UnreadError ? error.message : sentences.event_invalid;
        work.report.add(change.isPrivate ? null : change.title, reason);
      }
}

/** Without the changes that were made before a series was canceled. */
function withoutEnded(entries: readonly Entry[], masters: readonly Entry[]): readonly Entry[] {
  const [series] = masters;
  if (series === undefined || masters.some(({ isCancelled }) => !isCancelled)) return entries;
  return entries.filter(({ sequence }) => sequence > series.sequence);
}

/** An event, or the instances of a series without those that were changed one by one. */
function seriesOf(
  key: string,
  master: Entry,
  changes: ReadonlyMap<number, Entry>,
  window: ReadWindow,
  work: Work,
): ReadEvent[] {
  if (master.rules.length === 0 && master.added.length === 0 && changes.size === 0)
    return [instanceOf(key, "", master, master.start)];
  const later = [...changes].filter(([, { isFromHere }]) => isFromHere).sort(([a], [b]) => a - b);
  const found: ReadEvent[] = [];
  for (const start of expand(master, window, work)) {
    const at = epochOf(start);
    if (changes.has(at)) continue;
    const [, change] = later.findLast(([since]) => since <= at) ?? [];
    if (change === undefined) found.push(instanceOf(key, String(at), master, start));
    else if (!change.isCancelled) {
      const { zone, isDate } = change.start;
      const moved = { local: start.local.add(shiftOf(change)), zone, isDate };
      found.push(instanceOf(key, String(at), change, moved));
    }
  }
  return found;
}

/** How far a change moves its instance, in local time. */
function shiftOf({ instance, start }: Entry): Temporal.Duration {
  return (instance ?? start).local.until(start.local);
}

/** Of several versions of an event the newest; all that none is newer than, if they are at different times. */
function newest(entries: readonly Entry[]): Entry[] {
  const sorted = entries.toSorted((a, b) => a.sequence - b.sequence || compare(a.modified, b.modified));
  const last = sorted.at(-1);
  if (last === undefined) return [];
  const equal = sorted.filter((one) => one.sequence === last.sequence && one.modified === last.modified);
  return [...new Map(equal.map((one) => [epochOf(one.start), one])).values()];
}

function newestChanges(entries: readonly Entry[], master: Entry | undefined): Map<number, Entry> {
  const changes = entries
    .filter(({ instance }) => instance !== null)
    .map((entry) => withTime(entry, master))
    .toSorted((a, b) => a.sequence - b.sequence || compare(a.modified, b.modified));
  return new Map(changes.map((one) => [epochOf(one.instance ?? one.start), one]));
}

/** A change that names its instance by the date alone, with the time of its series. */
function withTime(change: Entry, master: Entry | undefined): Entry {
  const { instance } = change;
  if (instance === null || !instance.isDate || master === undefined || master.start.isDate) return change;
  const { local, zone } = master.start;
  return {
    ...change,
    instance: { local: instance.local.withPlainTime(local.toPlainTime()), zone, isDate: false },
  };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const midnight = new Temporal.PlainTime();

/** The starts of a series that may be in the window, without those that are excluded. */
function expand(master: Entry, window: ReadWindow, { deadline }: Work): Moment[] {
  if (performance.now() > deadline) throw new UnreadError(sentences.event_series_slow);
  const { start } = master;
  const length = master.endOf(start) - epochOf(start);
  const starts = new Map<number, Moment>();
  const add = (moment: Moment): void => {
    starts.set(epochOf(moment), moment);
  };
  for (const rule of master.rules)
    for (const local of ruleDates(rule, start, window, length)) add({ ...start, local });
  if (master.rules.length === 0) add(start);
  for (const moment of master.added)
    add(
      moment.isDate && !start.isDate
        ? { ...start, local: moment.local.withPlainTime(start.local.toPlainTime()) }
        : moment,
    );
  // Of days some programs write the midnight, in any zone.
  const isDay = ({ isDate, local }: Moment): boolean =>
    isDate || (start.isDate && local.toPlainTime().equals(midnight));
  const excludedDays = new Set(
    master.excluded.filter(isDay).map(({ local }) => local.toPlainDate().toString()),
  );
  const excluded = new Set(master.excluded.filter(({ isDate }) => !isDate).map(epochOf));
  return [...starts]
    .filter(([at, { local }]) => !excluded.has(at) && !excludedDays.has(local.toPlainDate().toString()))
    .sort(([a], [b]) => a - b)
    .map(([, moment]) => moment);
}

const supported = /(?:^|;)FREQ=(?:YEARLY|MONTHLY|WEEKLY|DAILY|HOURLY)(?:;|$)/;

/** The local times that a rule gives around the window. Local times are worked out as those of UTC, which has no gaps. */
function ruleDates(
  rule: string,
  { local, zone, isDate }: Moment,
  { from, to }: ReadWindow,
  length: number,
): Temporal.PlainDateTime[] {
  if (!supported.test(rule)) throw new UnreadError(sentences.event_frequent);
  const until = /(?:^|;)UNTIL=([0-9TZ]+)/.exec(rule)?.[1];
  const series = new RRuleTemporal({
    rruleString: `RRULE:${withDay(until === undefined ? rule : rule.replace(`UNTIL=${until}`, `UNTIL=${localUntil(until, zone, isDate)}`), local)}`,
    dtstart: local.toZonedDateTime("UTC"),
    includeDtstart: true,
    maxIterations,
    maxCandidateEvaluations: maxCandidates,
  });
  const dayMs = 86_400_000;
  let dates: { toString(): string }[];
  try {
    dates = series.between(new Date(from - length - dayMs), new Date(to + dayMs), true);
  } catch (error) {
    const isEndless = /exceeded/i.test(String(error));
    throw new UnreadError(isEndless ? sentences.event_rule_slow : sentences.event_rule_invalid);
  }
  if (dates.length > maxDates) throw new UnreadError(sentences.event_too_often);
  return dates.map((date) => Temporal.ZonedDateTime.from(date.toString()).toPlainDateTime());
}

/**
 * A rule with the day of the month that its start gives it, so that months without that day are skipped. The library takes their
 * last day, and keeps it for all later months.
 * Source: RFC 5545, "3.3.10".
 */
function withDay(rule: string, { month, day }: Temporal.PlainDateTime): string {
  const isMonthly = rule.includes("FREQ=MONTHLY");
  if (day <= 28 || !(isMonthly || rule.includes("FREQ=YEARLY"))) return rule;
  if (/;BY(?:DAY|MONTHDAY|YEARDAY|WEEKNO)=/.test(`;${rule}`)) return rule;
  const isOfMonth = isMonthly || /;BYMONTH=/.test(`;${rule}`);
  return `${rule};BYMONTHDAY=${day}${isOfMonth ? "" : `;BYMONTH=${month}`}`;
}

/** The last time of a rule in its own zone, as if that were UTC. */
function localUntil(until: string, zone: Zone, isDate: boolean): string {
  // Bounded: every repetition has a fixed count.
  const parts = /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})(Z?))?$/.exec(until);
  if (parts === null) throw new UnreadError(sentences.event_until);
  const [, year, month, day, hour, minute, second, isUtc] = parts;
  const date = `${year}${month}${day}`;
  // A date includes its whole day.
  if (hour === undefined || isDate) return `${date}T235959Z`;
  if (isUtc !== "Z") return `${date}T${hour}${minute}${second}Z`;
  const at = Temporal.PlainDateTime.from(`${year}-${month}-${day}T${hour}:${minute}:${second}`);
  const instant = at.toZonedDateTime("UTC").epochMilliseconds;
  // The local time of this instant: the offset there, which is the one of a time nearby.
  const offset = instant - zone.toEpoch(at);
  const local = at.add({ milliseconds: offset });
  const exact = local.add({ milliseconds: instant - zone.toEpoch(local) });
  return `${exact.toString({ smallestUnit: "second" }).replace(/[-:]/g, "")}Z`;
}

function instanceOf(name: string, instance: string, entry: Entry, start: Moment): ReadEvent {
  const { isPrivate } = entry;
  const times = {
    key: hash(`${name}\n${instance}`),
    start: epochOf(start),
    end: start.end ?? entry.endOf(start),
    isAllDay: entry.isAllDay,
    isPrivate,
  };
  if (!(times.start >= minTime && times.end <= maxTime)) throw new UnreadError(sentences.event_year);
  if (isPrivate) return { ...times, uid: null, title: null, organizer: null, attendees: [] };
  const { uid, title, organizer, attendees } = entry;
  return { ...times, uid, title, organizer, attendees };
}

function within(events: readonly ReadEvent[], { from, to }: ReadWindow): ReadEvent[] {
  return events.filter(({ start, end }) => end >= from && start < to);
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
