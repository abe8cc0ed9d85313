import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type { Role as RoleName } from "../../../contract/accounts/account-sessions.ts";
import type * as teams from "../../../contract/accounts/account-teams.ts";
import type * as users from "../../../contract/accounts/account-users.ts";
import { call, path } from "../client.ts";

export type User = z.output<typeof users.UserAccount>;
export type Role = z.output<typeof RoleName>;
export type Team = z.output<typeof teams.TeamWithMembers>;

/** A one-time link for a user, and when it expires. */
export interface OneTimeLink {
  readonly url: string;
  readonly expires_at: string;
  readonly mailed: boolean;
}

export const managedUsersQuery = queryOptions({
  queryKey: ["users"],
  queryFn: ({ signal }) => call<typeof users.listUserAccounts>("GET", "/_/api/v1/users", { signal }),
});

/** What deactivating a user would revoke. */
export const userAccessQuery = (id: string) =>
  queryOptions({
    queryKey: ["users", id, "access"],
    queryFn: ({ signal }) =>
      call<typeof users.getUserAccess>("GET", path`/_/api/v1/users/${id}/access`, { signal }),
  });

export const invite = (body: z.input<typeof users.inviteUser.body>) =>
  call<typeof users.inviteUser>("POST", "/_/api/v1/users", { body });

export const renewInvitation = (id: string) =>
  call<typeof users.replaceInvitation>("POST", path`/_/api/v1/users/${id}/invitation`);

export const changeRole = (id: string, role: Role) =>
  call<typeof users.updateUser>("PATCH", path`/_/api/v1/users/${id}`, { body: { role } });

export const deactivate = (id: string) =>
  call<typeof users.deactivateUser>("POST", path`/_/api/v1/users/${id}/deactivate`);

export const reactivate = (id: string) =>
  call<typeof users.reactivateUser>("POST", path`/_/api/v1/users/${id}/reactivate`);

export const makeResetLink = (id: string) =>
  call<typeof users.createPasswordResetLink>("POST", path`/_/api/v1/users/${id}/password-reset-link`);

export const unbindSingleSignOn = (id: string) =>
  call<typeof users.unbindSingleSignOn>("DELETE", path`/_/api/v1/users/${id}/single-sign-on`);

export const teamMembersQuery = queryOptions({
  queryKey: ["team members"],
  queryFn: ({ signal }) => call<typeof teams.listTeamMembers>("GET", "/_/api/v1/teams", { signal }),
});

/** Queries to invalidate when a team changes. */
export const teamKeys = [["team members"], ["directory", "teams"], ["users"]] as const;

export const createTeam = (name: string) =>
  call<typeof teams.createTeam>("POST", "/_/api/v1/teams", { body: { name } });

export const renameTeam = (id: string, name: string) =>
  call<typeof teams.renameTeam>("PATCH", path`/_/api/v1/teams/${id}`, { body: { name } });

export const deleteTeam = (id: string) =>
  call<typeof teams.deleteTeam>("DELETE", path`/_/api/v1/teams/${id}`);

export const addMember = (id: string, userId: string) =>
  call<typeof teams.addTeamMember>("PUT", path`/_/api/v1/teams/${id}/members`, { body: { user_id: userId } });

export const removeMember = (id: string, userId: string) =>
  call<typeof teams.removeTeamMember>("DELETE", path`/_/api/v1/teams/${id}/members/${userId}`);
