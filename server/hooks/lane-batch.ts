/** Deliveries prepared at a time: one statement renders them all. */
const usual = 250;
/** The same of a receiver that takes them quickly: more for each statement costs less of the database. */
const quick = 600;
/** Quick is who was sent the usual number in so little time, so that what is prepared is still fresh when its turn comes. */
const quickMs = 250;
/** So many bytes of that number are little enough to hold more of them. */
const quickBytes = 2 * 1024 * 1024;
/** Of a hook whose payloads may hold whole transcripts, of megabytes each. */
const large = 4;
/** Of a hook that fails: the first failure ends the lane. */
const failing = 4;

/** How many deliveries a lane prepares at a time. */
export interface BatchSize {
  readonly size: number;
  /** Learns from a batch that was sent. @param bytes of all its bodies. @param ms until the last was begun. */
  sent(count: number, bytes: number, ms: number): void;
}

/** @param hook what is known of the hook when its lane begins. */
export function createBatchSize(hook: { readonly isFailing: boolean; readonly isLarge: boolean }): BatchSize {
  const first = hook.isFailing ? failing : hook.isLarge ? large : usual;
  let size = first;
  return {
    get size() {
      return size;
    },
    sent(count, bytes, ms) {
      if (first !== usual || count === 0) return;
      const isQuick = ms * usual <= quickMs * count && bytes * usual <= quickBytes * count;
      size = isQuick ? quick : usual;
    },
  };
}
