import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type * as sessions from "../../../contract/accounts/account-sessions.ts";
import type * as tokens from "../../../contract/accounts/account-tokens.ts";
import type * as apps from "../../../contract/accounts/oauth-management.ts";
import { call, path } from "../client.ts";

export type Token = z.output<typeof tokens.AccessToken>;

export const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: ({ signal }) => call<typeof sessions.listSessions>("GET", "/_/api/v1/sessions", { signal }),
});

export const rename = (name: string) =>
  call<typeof sessions.updateMe>("PATCH", "/_/api/v1/me", { body: { name } });

export const changePassword = (body: z.input<typeof sessions.changePassword.body>) =>
  call<typeof sessions.changePassword>("POST", "/_/api/v1/me/password", { body });

export const endSession = (id: string) =>
  call<typeof sessions.endSession>("DELETE", path`/_/api/v1/sessions/${id}`);

/** Unlinks the single sign-on identities of the signed-in user. */
export const unbindMySingleSignOn = () =>
  call<typeof sessions.unbindMySingleSignOn>("DELETE", "/_/api/v1/me/single-sign-on");

/** Ends all sessions of the user, including this one. */
export const endSessions = () => call<typeof sessions.endSessions>("DELETE", "/_/api/v1/sessions");

/** The user's own tokens, or for admins those of the whole workspace. */
export const tokensQuery = (of: "me" | "workspace") =>
  queryOptions({
    queryKey: ["tokens", of],
    queryFn: ({ signal }) =>
      call<typeof tokens.listTokens>("GET", "/_/api/v1/tokens", { signal, query: { of } }),
  });

export const createToken = (body: z.input<typeof tokens.createToken.body>) =>
  call<typeof tokens.createToken>("POST", "/_/api/v1/tokens", { body });

export const revokeToken = (id: string) =>
  call<typeof tokens.revokeToken>("DELETE", path`/_/api/v1/tokens/${id}`);

export type Grant = z.output<typeof apps.OAuthGrant>;

/** Apps that the user has authorized, or for admins those that anyone in the workspace has. */
export const grantsQuery = (of: "me" | "workspace") =>
  infiniteQueryOptions({
    queryKey: ["grants", of],
    initialPageParam: null as string | null,
    getNextPageParam: (last: z.output<typeof apps.listOAuthGrants.response>) => last.cursor,
    queryFn: ({ pageParam, signal }) =>
      call<typeof apps.listOAuthGrants>("GET", "/_/api/v1/oauth/grants", {
        signal,
        query: { of, cursor: pageParam },
      }),
  });

export const updateGrant = (id: string, body: z.input<typeof apps.updateOAuthGrant.body>) =>
  call<typeof apps.updateOAuthGrant>("PATCH", path`/_/api/v1/oauth/grants/${id}`, { body });

export const revokeGrant = (id: string) =>
  call<typeof apps.revokeOAuthGrant>("DELETE", path`/_/api/v1/oauth/grants/${id}`);
