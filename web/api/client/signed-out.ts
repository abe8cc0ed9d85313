/**
 * Tracks whether the session has ended while the app is open. Requests wait here until the user has signed in again, so that
 * no page loses its content or unsaved text.
 */
let isOut = false;
let waiting: (() => void)[] = [];
const listeners = new Set<() => void>();

function set(next: boolean): void {
  if (isOut === next) return;
  isOut = next;
  for (const listener of listeners) listener();
}

/** For `useSyncExternalStore`: true from the first 401 until the user has signed in again. */
export const signedOutStore = {
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
  get: (): boolean => isOut,
};

/** Records that the server no longer accepts the session. */
export function reportSignedOut(): void {
  set(true);
}

/** Releases the waiting requests. */
export function reportSignedIn(): void {
  set(false);
  const released = waiting;
  waiting = [];
  for (const release of released) release();
}

/** Resolves at once while signed in, otherwise after the next sign-in. Rejects when `signal` aborts. */
export function untilSignedIn(signal?: AbortSignal): Promise<void> {
  if (!isOut) return Promise.resolve();
  return new Promise((resolve, reject) => {
    waiting.push(resolve);
    signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}
