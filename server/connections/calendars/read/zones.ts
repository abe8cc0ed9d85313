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
  readonly floating: Zone;

  /** @param defined the text of each VTIMEZONE by its id. @param floating the IANA zone of times without a zone. */
  constructor(defined: ReadonlyMap<string, string>, floating: string) {
    this.#defined = defined;
    this.floating = ianaZone(floating);
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
    if (/^(?:utc|gmt|z|etc\/utc)$/i.test(id.trim())) return utc;
    // A definition often has the rules of one year alone, and the database those of all.
    const name = ianaName(id);
    if (name !== null) return ianaZone(name);
    const text = this.#defined.get(id);
    if (text === undefined) return null;
    try {
      const component = new ICAL.Component(ICAL.parse(text) as unknown[]);
      const zone = definedZone(component);
      if (component.getAllSubcomponents().length === 0) return null;
      zone.toEpoch(Temporal.PlainDateTime.from("2026-01-01T00:00"));
      return zone;
    } catch {
      return null;
    }
  }
}
