/** Deliveries prepared at a time: one statement renders them all. */
const usual = 250;
/** The same for a quick receiver: larger batches cost the database less. */
const quick = 600;
/** A receiver is quick if it takes the usual number in this time, so that what is prepared is still fresh when it is sent. */
const quickMs = 250;
/** Larger batches are prepared only if the usual number has no more bytes. */
const quickBytes = 2 * 1024 * 1024;
/** For a hook whose payloads may contain whole transcripts of megabytes. */
const large = 4;
/** For a failing hook: the first failure ends its worker. */
const failing = 4;

/** How many deliveries a hook worker prepares at a time. */
export interface BatchSize {
  readonly size: number;
  /** Adapts to a batch that was sent. @param bytes of all its bodies. @param ms until the last one started. */
  sent(count: number, bytes: number, ms: number): void;
}

/** @param hook its state when the worker starts. */
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
