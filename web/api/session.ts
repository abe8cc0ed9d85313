import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import {
  getMe,
  signInWithPassword,
  signOut as signOutOperation,
} from "../../contract/accounts/account-sessions.ts";
import { ApiError } from "./client/api-error.ts";
import { call } from "./client/call.ts";

/** The signed-in user and workspace. */
export type Session = z.output<(typeof getMe)["response"]>;

const sessionKey = ["session"] as const;

/** The current session; null when signed out. It never changes from a session back to null: a refetch waits for the next
 * sign-in, as every other request does.
 */
export const sessionQuery = queryOptions({
  queryKey: sessionKey,
  staleTime: 60_000,
  queryFn: async ({ signal, client }): Promise<Session | null> =>
    client.getQueryData(sessionKey) ? call(getMe, { signal }) : await currentSession(signal),
});

/** Reads the session from the server, even while other requests wait for a sign-in. @returns null when signed out. */
export async function currentSession(signal?: AbortSignal): Promise<Session | null> {
  try {
    return await call(getMe, { isAboutSession: true, ...(signal === undefined ? {} : { signal }) });
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

/** Signs in with a password, and a code where the user has a second factor. @throws ApiError `second_factor_required` without it, or when email or password is wrong, or after too many attempts. */
export function signIn(body: z.input<(typeof signInWithPassword)["body"]>): Promise<Session> {
  return call(signInWithPassword, { body, isAboutSession: true });
}

/** Ends this session. A session that has already ended elsewhere is no error. */
export async function signOut(): Promise<void> {
  try {
    await call(signOutOperation, { isAboutSession: true });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) throw error;
  }
}

/** The sign-in page, which returns to the current page. */
export function signInUrl(path: "/sign-in" | "/sign-in/sso" = "/sign-in"): string {
  const { pathname, search, hash } = window.location;
  return `${path}?next=${encodeURIComponent(pathname + search + hash)}`;
}
