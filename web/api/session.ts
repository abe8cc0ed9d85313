import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type { getMe, signOut as signOutOperation } from "../../contract/account-sessions.ts";
import { ApiError, call } from "./client.ts";

/** The signed-in person. */
export type Session = z.output<(typeof getMe)["response"]>;

/** Who is signed in; null when nobody is. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  staleTime: 60_000,
  queryFn: async ({ signal }): Promise<Session | null> => {
    try {
      return await call<typeof getMe>("GET", "/_/api/v1/session/me", { signal });
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null;
      throw error;
    }
  },
});

/** Ends this session and leaves for the sign-in. @throws ApiError when the person is still signed in. */
export async function signOut(): Promise<void> {
  try {
    await call<typeof signOutOperation>("DELETE", "/_/api/v1/session");
  } catch (error) {
    // Ended elsewhere meanwhile.
    if (!(error instanceof ApiError && error.status === 401)) throw error;
  }
  window.location.assign("/sign-in");
}

/** Where people sign in; leads back to where they were. */
export function signInAddress(): string {
  const { pathname, search, hash } = window.location;
  return `/sign-in?next=${encodeURIComponent(pathname + search + hash)}`;
}
