import type { HookWorker } from "./hook-worker.ts";

/** Hooks whose receivers respond, those that respond slowly, and those whose last attempt failed. */
export type WorkerKind = "healthy" | "slow" | "failing";

/** A hook with its worker. */
interface WorkerSlot {
  readonly worker: HookWorker;
  readonly kind: WorkerKind;
  /** Of its lease. */
  readonly token: string;
}

/**
 * How many hooks this process sends to at the same time. Workers of slow and failing hooks mostly wait; each kind has its
 * own limit, so that they take no slots from the healthy ones.
 */
const maxWorkers: Readonly<Record<WorkerKind, number>> = { healthy: 512, slow: 256, failing: 256 };

export interface WorkerSlots {
  add(hookId: string, slot: WorkerSlot): void;
  remove(hookId: string): void;
  all(): readonly WorkerSlot[];
  /** How many more failing, or other, hooks may be leased, and which must not be. */
  wanted(kind: "healthy" | "failing"): { readonly limit: number; readonly except: string[] };
  /** Whether other hooks may be waiting for the hook's slot. */
  isFull(hookId: string): boolean;
  /**
   * Moves workers of slow receivers to the slow ones. If these are too many, the ones that have been slow longest finish what is
   * in flight and end. @returns whether a slot became free for healthy hooks.
   */
  sort(): boolean;
}

export function createWorkerSlots(max: Readonly<Record<WorkerKind, number>> = maxWorkers): WorkerSlots {
  // In the order of insertion.
  const slots = new Map<string, WorkerSlot>();
  /** Hooks known to be slow, also while nothing is sent to them. */
  const slow = new Set<string>();

  const count = (kind: WorkerKind): number => {
    let found = 0;
    for (const slot of slots.values()) if (slot.kind === kind) found += 1;
    return found;
  };

  return {
    add(hookId, slot) {
      slots.set(hookId, slot.kind === "healthy" && slow.has(hookId) ? { ...slot, kind: "slow" } : slot);
    },
    remove(hookId) {
      const slot = slots.get(hookId);
      slots.delete(hookId);
      if (slot?.kind === "slow" && !slot.worker.isSlow()) slow.delete(hookId);
    },
    all: () => [...slots.values()],
    wanted(kind) {
      const limit = max[kind] - count(kind);
      const isFull = kind === "healthy" && count("slow") >= max.slow;
      return { limit, except: isFull ? [...new Set([...slots.keys(), ...slow])] : [...slots.keys()] };
    },
    isFull(hookId) {
      const kind = slots.get(hookId)?.kind ?? "healthy";
      return count(kind) >= max[kind];
    },
    sort() {
      let isMoved = false;
      for (const [hookId, slot] of slots) {
        if (slot.kind !== "healthy" || !slot.worker.isSlow()) continue;
        slow.add(hookId);
        // Inserted again at the end: the first ones are those that have been slow longest.
        slots.delete(hookId);
        slots.set(hookId, { ...slot, kind: "slow" });
        isMoved = true;
      }
      let tooMany = count("slow") - max.slow;
      for (const slot of slots.values()) {
        if (tooMany <= 0) break;
        if (slot.kind !== "slow") continue;
        slot.worker.end();
        tooMany -= 1;
      }
      return isMoved;
    },
  };
}
