import ICAL from "ical.js";
import { findIana } from "windows-iana";

/** Turns local times of a zone into instants. */
export interface Zone {
  /** Milliseconds since 1970. */
  toEpoch(local: Temporal.PlainDateTime): number;
}

const utc: Zone = { toEpoch: (local) => local.toZonedDateTime("UTC").epochMilliseconds };

function ianaZone(name: string): Zone {
  // Source: RFC 5545, "3.3.5": a time that doesn't exist has the offset before the change; of two the first is meant.
  return {
    toEpoch: (local) => local.toZonedDateTime(name, { disambiguation: "compatible" }).epochMilliseconds,
  };
}

/** A zone that a calendar defines itself. */
function definedZone(component: ICAL.Component): Zone {
  const zone = new ICAL.Timezone({ component });
  return {
    toEpoch(local) {
      const { year, month, day, hour, minute, second } = local;
      return (
        new ICAL.Time({ year, month, day, hour, minute, second, isDate: false }, zone).toUnixTime() * 1000
      );
    },
  };
}

/** The IANA name that a calendar means, which may be in other words; null: it is none. */
export function ianaName(id: string): string | null {
  const trimmed = id.trim();
  const [windows] = findIana(trimmed as Parameters<typeof findIana>[0]);
  // Some programs write a name of their own before it: /mozilla.org/20050126_1/Europe/Berlin.
  const inPath = trimmed.startsWith("/") ? trimmed.split("/").slice(3) : [];
  const candidates = [trimmed, windows, inPath.join("/"), inPath.slice(-2).join("/"), inPath.at(-1)];
  return candidates.find((name) => name !== undefined && isIana(name)) ?? null;
}

const known = new Map<string, boolean>();

function isIana(name: string): boolean {
  // `Intl` also takes offsets, as +05:00.
  if (!/^[A-Za-z]/.test(name)) return false;
  const before = known.get(name);
  if (before !== undefined) return before;
  let is = true;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
  } catch {
    is = false;
  }
  if (known.size < 1000) known.set(name, is);
  return is;
}

/** The zones of one calendar. */
export class Zones {
  readonly #defined: ReadonlyMap<string, string>;
  readonly #found = new Map<string, Zone | null>();
  /** Of times without a zone. */
  readonly floating: Zone;
  /** Of dates. */
  readonly days: Zone;

  /** @param defined the text of each VTIMEZONE by its id. @param floating the IANA zone of times without a zone. */
  constructor(defined: ReadonlyMap<string, string>, floating: string) {
    this.#defined = defined;
    this.floating = ianaZone(floating);
    this.days = this.floating;
  }

  readonly utc = utc;

  /** The zone of this id; null: it is not known and not defined. */
  find(id: string): Zone | null {
    const before = this.#found.get(id);
    if (before !== undefined) return before;
    const zone = this.#make(id);
    this.#found.set(id, zone);
    return zone;
  }

  #make(id: string): Zone | null {
    if (/^(?:utc|gmt|z|etc\/utc|tzone:\/\/microsoft\/utc)$/i.test(id.trim())) return utc;
    // A definition often has the rules of one year alone, and the database those of all.
    const name = ianaName(id);
    if (name !== null) return ianaZone(name);
    const shown = (): Zone | null => zoneOfName(nameShown(id));
    const text = this.#defined.get(id);
    if (text === undefined) return shown();
    try {
      const component = new ICAL.Component(ICAL.parse(text) as unknown[]);
      // Without rules, but with the name of a place.
      if (component.getAllSubcomponents().length === 0)
        return (
          zoneOfName(ianaName(String(component.getFirstPropertyValue("x-lic-location") ?? ""))) ?? shown()
        );
      const zone = definedZone(component);
      zone.toEpoch(Temporal.PlainDateTime.from("2026-01-01T00:00"));
      return zone;
    } catch {
      return shown();
    }
  }
}

function zoneOfName(name: string | null): Zone | null {
  return name === null ? null : ianaZone(name);
}

const regions = ["Europe", "America", "Asia", "Africa", "Australia", "Pacific", "Atlantic", "Indian"];

/**
 * The zone that a name shown to people means: an offset, as GMT+0200; `Eastern Time (US & Canada)`; or, as Windows shows it,
 * `(UTC+01:00) Amsterdam, Berlin, Rome`, if one of the cities has this offset in winter.
 */
function nameShown(id: string): string | null {
  const text = id.trim().replaceAll("\\", "").slice(0, 200);
  const [, sign, hours = "", minutes = "00"] = /^(?:UTC|GMT)?\s?([+-])(\d{1,2}):?(\d{2})?$/i.exec(text) ?? [];
  if (sign !== undefined)
    return Number(hours) < 15 && Number(minutes) < 60 ? `${sign}${hours.padStart(2, "0")}:${minutes}` : null;
  const [, offset, place = text] = /^\((?:UTC|GMT)([+-]\d{2}:\d{2})?\)(.*)$/i.exec(text) ?? [];
  const [, american] = /^\s*([A-Za-z]+) Time \(US & Canada\)$/i.exec(place) ?? [];
  if (american !== undefined) return ianaName(`${american} Standard Time`);
  if (place === text) return null;
  const names = place
    .split(",")
    .flatMap((city) => regions.map((region) => `${region}/${city.trim().replace(/\s+/g, "_")}`));
  return names.find((name) => isIana(name) && winterOffset(name) === (offset ?? "+00:00")) ?? null;
}

/** The smaller offset of the year. */
function winterOffset(name: string): string {
  const [first, second] = ["2026-01-01T12:00", "2026-07-01T12:00"].map((at) =>
    Temporal.PlainDateTime.from(at).toZonedDateTime(name),
  ) as [Temporal.ZonedDateTime, Temporal.ZonedDateTime];
  return (first.offsetNanoseconds <= second.offsetNanoseconds ? first : second).offset;
}
