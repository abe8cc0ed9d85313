/** What is in flight: a few items at a time, of which thousands come and go in a second. */
export interface InFlight<T> {
  readonly size: number;
  /** @returns a function that removes the item; to be called once. */
  add(item: T): () => void;
  /** In no order. */
  items(): T[];
  some(matches: (item: T) => boolean): boolean;
}

/**
 * An array, because a Set or Map whose table is full leaves that table behind with a reference to the next one: once one of
 * them has become old, the garbage collector keeps all that follow it, with their items, until it goes through the whole
 * heap. That cost a quarter of the sender's time.
 */
export function createInFlight<T>(): InFlight<T> {
  const slots: { item: T; index: number }[] = [];
  return {
    get size() {
      return slots.length;
    },
    add(item) {
      const slot = { item, index: slots.length };
      slots.push(slot);
      return () => {
        const last = slots.pop();
        if (last === undefined || last === slot) return;
        slots[slot.index] = last;
        last.index = slot.index;
      };
    },
    items: () => slots.map(({ item }) => item),
    some: (matches) => slots.some(({ item }) => matches(item)),
  };
}
