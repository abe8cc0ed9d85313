import type { ObjectStore } from "./store.ts";

/** A store that can be replaced while it is used. */
export interface SwitchableStore {
  readonly store: ObjectStore;
  /** Uses another store from now on. The former one is not closed, because it may still be read and written to. */
  use(next: ObjectStore): void;
  /** Resolves when all writes that are in flight to other stores than the one in use have ended. */
  drain(): Promise<void>;
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
    use(next) {
      current = next;
    },
    async drain() {
      const former = [...inFlight].filter(([each]) => each !== current);
      await Promise.allSettled(former.flatMap(([, calls]) => [...calls]));
      for (const [each, calls] of former) if (calls.size === 0) inFlight.delete(each);
    },
  };
}
