import { queryOptions } from "@tanstack/react-query";
import { ApiError, call } from "./client.ts";

/** The signed-in person. */
export interface Session {
  readonly user: { readonly id: string; readonly name: string; readonly email: string; readonly role: Role };
  readonly workspace: { readonly id: string; readonly name: string };
}

export type Role = "admin" | "member" | "viewer";

/** Who is signed in; null when nobody is. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  staleTime: 60_000,
  queryFn: async ({ signal }): Promise<Session | null> => {
    try {
      return (await call("GET", "/_/api/v1/session", { signal })) as unknown as Session;
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null;
      throw error;
    }
  },
});

/** Where people sign in; leads back to where they were. */
export function signInAddress(): string {
  const { pathname, search, hash } = window.location;
  return `/sign-in?next=${encodeURIComponent(pathname + search + hash)}`;
}
