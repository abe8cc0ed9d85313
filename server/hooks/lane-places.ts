import type { Lane } from "./lane.ts";

/** Hooks that answer, those that answer but take their time, and those whose last attempt failed. */
export type LaneKind = "healthy" | "slow" | "failing";

/** A hook being served. */
export interface Place {
  readonly lane: Lane;
  readonly kind: LaneKind;
  /** Of its lease. */
  readonly token: string;
}

/**
 * Hooks that this process sends to at the same time. A lane of a hook that answers is quick; the others wait, each kind in
 * a number of its own, so that they take nothing from those that answer.
 */
const mostLanes: Readonly<Record<LaneKind, number>> = { healthy: 512, slow: 256, failing: 256 };

export interface Places {
  add(hookId: string, place: Place): void;
  remove(hookId: string): void;
  lanes(): readonly Place[];
  /** How many more hooks may be served that do not fail, or that do, and which are not to be taken. */
  wanted(kind: "healthy" | "failing"): { readonly limit: number; readonly except: string[] };
  /** Whether others wait for the place that the hook has. */
  isFull(hookId: string): boolean;
  /**
   * Moves lanes whose receivers take their time among the slow ones. With too many of those, the ones that have had
   * a place longest end with what is on its way. @returns whether there is a place more for those that answer.
   */
  sort(): boolean;
}

export function createPlaces(most: Readonly<Record<LaneKind, number>> = mostLanes): Places {
  // In the order in which they came.
  const places = new Map<string, Place>();
  /** Known to take their time, also while nothing is sent to them. */
  const slow = new Set<string>();

  const count = (kind: LaneKind): number => {
    let found = 0;
    for (const place of places.values()) if (place.kind === kind) found += 1;
    return found;
  };

  return {
    add(hookId, place) {
      places.set(hookId, place.kind === "healthy" && slow.has(hookId) ? { ...place, kind: "slow" } : place);
    },
    remove(hookId) {
      const place = places.get(hookId);
      places.delete(hookId);
      if (place?.kind === "slow" && !place.lane.isSlow()) slow.delete(hookId);
    },
    lanes: () => [...places.values()],
    wanted(kind) {
      const limit = most[kind] - count(kind);
      const isFull = kind === "healthy" && count("slow") >= most.slow;
      return { limit, except: isFull ? [...new Set([...places.keys(), ...slow])] : [...places.keys()] };
    },
    isFull(hookId) {
      const kind = places.get(hookId)?.kind ?? "healthy";
      return count(kind) >= most[kind];
    },
    sort() {
      let isMoved = false;
      for (const [hookId, place] of places) {
        if (place.kind !== "healthy" || !place.lane.isSlow()) continue;
        slow.add(hookId);
        // Set anew at its end: the first are those that have been slow longest.
        places.delete(hookId);
        places.set(hookId, { ...place, kind: "slow" });
        isMoved = true;
      }
      let tooMany = count("slow") - most.slow;
      for (const place of places.values()) {
        if (tooMany <= 0) break;
        if (place.kind !== "slow") continue;
        place.lane.end();
        tooMany -= 1;
      }
      return isMoved;
    },
  };
}
