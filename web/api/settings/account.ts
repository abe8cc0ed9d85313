import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import * as sessions from "../../../contract/accounts/account-sessions.ts";
import * as tokens from "../../../contract/accounts/account-tokens.ts";
import * as singleSignOn from "../../../contract/accounts/my-single-sign-on.ts";
import * as apps from "../../../contract/accounts/oauth-management.ts";
import * as factors from "../../../contract/accounts/second-factor.ts";
import { call } from "../client/call.ts";

export type Token = z.output<typeof tokens.AccessToken>;

export const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: ({ signal }) => call(sessions.listSessions, { signal }),
});

export const rename = (name: string) => call(sessions.updateMe, { body: { name } });

/** @param language null: the browser's. */
export const setLanguage = (language: string | null) => call(sessions.updateMe, { body: { language } });

/** @param timeZone null: the browser's. */
export const setTimeZone = (timeZone: string | null) =>
  call(sessions.updateMe, { body: { time_zone: timeZone } });

export const setBrowserTimeZone = (timeZone: string) =>
  call(sessions.updateMe, { body: { browser_time_zone: timeZone } });

export const changePassword = (body: z.input<typeof sessions.changePassword.body>) =>
  call(sessions.changePassword, { body });

export type PasswordChanged = Awaited<ReturnType<typeof changePassword>>;

export const secondFactorQuery = queryOptions({
  queryKey: ["second-factor"],
  queryFn: ({ signal }) => call(factors.getSecondFactor, { signal }),
});

export const addSecondFactor = (password: string) =>
  call(factors.addSecondFactor, { body: { type: "totp", password } });

export const confirmSecondFactor = (code: string) => call(factors.confirmSecondFactor, { body: { code } });

export const replaceRecoveryCodes = () => call(factors.replaceRecoveryCodes);

export const removeSecondFactor = () => call(factors.removeSecondFactor);

export const endSession = (id: string) => call(sessions.endSession, { params: { session_id: id } });

export const mySingleSignOnQuery = queryOptions({
  queryKey: ["single-sign-on"],
  queryFn: ({ signal }) => call(singleSignOn.getMySingleSignOn, { signal }),
});

/** Starts to connect a provider with the user's account. @returns where to go. */
export const connectMySingleSignOn = (provider: string) =>
  call(singleSignOn.connectMySingleSignOn, { body: { provider } });

/** Unlinks the user's account from a provider. */
export const unbindMySingleSignOn = (issuer: string) =>
  call(singleSignOn.unbindMySingleSignOn, { query: { issuer } });

/** Ends all sessions of the user, including this one. */
export const endSessions = () => call(sessions.endSessions);

/** The user's own tokens, or for admins those of the whole workspace. */
export const tokensQuery = (of: "me" | "workspace") =>
  queryOptions({
    queryKey: ["tokens", of],
    queryFn: ({ signal }) => call(tokens.listTokens, { signal, query: { of } }),
  });

export const createToken = (body: z.input<typeof tokens.createToken.body>) =>
  call(tokens.createToken, { body });

export const revokeToken = (id: string) => call(tokens.revokeToken, { params: { token_id: id } });

export type Grant = z.output<typeof apps.OAuthGrant>;

/** Apps that the user has authorized, or for admins those that anyone in the workspace has. */
export const grantsQuery = (of: "me" | "workspace") =>
  infiniteQueryOptions({
    queryKey: ["grants", of],
    initialPageParam: null as string | null,
    getNextPageParam: (last: z.output<typeof apps.listOAuthGrants.response>) => last.cursor,
    queryFn: ({ pageParam, signal }) =>
      call(apps.listOAuthGrants, { signal, query: { of, cursor: pageParam } }),
  });

export const updateGrant = (id: string, body: z.input<typeof apps.updateOAuthGrant.body>) =>
  call(apps.updateOAuthGrant, { params: { grant_id: id }, body });

export const revokeGrant = (id: string) => call(apps.revokeOAuthGrant, { params: { grant_id: id } });
