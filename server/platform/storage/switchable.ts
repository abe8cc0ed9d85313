import type { ObjectStore } from "./store.ts";

/** A store that can be replaced while it is used. */
export interface SwitchableStore {
  readonly store: ObjectStore;
  /**
   * Uses another store from now on. Resolves when all writes to the former one have ended; it is not closed, because it
   * may still be read.
   */
  switchTo(next: ObjectStore): Promise<void>;
}

/** Methods that write an object's bytes. */
const writes = ["put", "putFile", "copy", "append", "finishAppend"] as const;

/** Wraps a store so that it can be replaced: every call goes to the one in use when the call begins. */
export function makeSwitchable(first: ObjectStore): SwitchableStore {
  let current = first;
  /** The writes in flight, by store. */
  const inFlight = new Map<ObjectStore, Set<Promise<unknown>>>();

  function track<T>(store: ObjectStore, call: Promise<T>): Promise<T> {
    const calls = inFlight.get(store) ?? new Set();
    inFlight.set(store, calls);
    calls.add(call);
    const end = (): void => void calls.delete(call);
    call.then(end, end);
    return call;
  }

  const store = new Proxy({} as ObjectStore, {
    get(_target, name: keyof ObjectStore) {
      const member = current[name];
      if (typeof member !== "function") return member;
      const method = member as (...args: unknown[]) => Promise<unknown>;
      const isWrite = (writes as readonly string[]).includes(name);
      return (...args: unknown[]) => {
        const used = current;
        const call = (used[name] as typeof method)(...args);
        return isWrite ? track(used, call) : call;
      };
    },
  });
  return {
    store,
    async switchTo(next) {
      const former = current;
      current = next;
      await Promise.allSettled([...(inFlight.get(former) ?? [])]);
      inFlight.delete(former);
    },
  };
}
