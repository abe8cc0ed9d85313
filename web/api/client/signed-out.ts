/** Why the user has to sign in while the app is open: the session has ended, or is too old to prove who they are. */
export type SignInReason = "signed_out" | "proof_required";

/**
 * Tracks whether the user has to sign in again while the app is open. Requests wait here until they have, so that no page loses
 * its content or unsaved text.
 */
let reason: SignInReason | null = null;
let waiting: ((isSignedIn: boolean) => void)[] = [];
const listeners = new Set<() => void>();

function set(next: SignInReason | null): void {
  if (reason === next) return;
  reason = next;
  for (const listener of listeners) listener();
}

/** For `useSyncExternalStore`: why to sign in again; null if there is no reason. */
export const signedOutStore = {
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
  get: (): SignInReason | null => reason,
};

/** Records that the server no longer accepts the session. */
export function reportSignedOut(): void {
  set("signed_out");
}

/** Releases the waiting requests. Without a sign-in, those that ask for proof fail. */
export function release(isSignedIn: boolean): void {
  set(null);
  const released = waiting;
  waiting = [];
  for (const resolve of released) resolve(isSignedIn);
}

/** Resolves at once while signed in, otherwise after the next sign-in. Rejects when `signal` aborts. */
export function untilSignedIn(signal?: AbortSignal): Promise<unknown> {
  return reason === "signed_out" ? wait(signal) : Promise.resolve();
}

/** Asks the user to sign in again. Resolves to false if they don't want to. */
export function untilProven(signal?: AbortSignal): Promise<boolean> {
  set(reason ?? "proof_required");
  return wait(signal);
}

function wait(signal?: AbortSignal): Promise<boolean> {
  return new Promise((resolve, reject) => {
    waiting.push(resolve);
    signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}
