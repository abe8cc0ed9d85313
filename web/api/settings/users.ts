import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type { Role as RoleName } from "../../../contract/accounts/account-sessions.ts";
import * as teams from "../../../contract/accounts/account-teams.ts";
import * as users from "../../../contract/accounts/account-users.ts";
import * as factors from "../../../contract/accounts/second-factor.ts";
import { call } from "../client/call.ts";

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
  queryFn: ({ signal }) => call(users.listUserAccounts, { signal }),
});

/** What deactivating a user would revoke. */
export const userAccessQuery = (id: string) =>
  queryOptions({
    queryKey: ["users", id, "access"],
    queryFn: ({ signal }) => call(users.getUserAccess, { params: { user_id: id }, signal }),
  });

export const invite = (body: z.input<typeof users.inviteUser.body>) => call(users.inviteUser, { body });

export const renewInvitation = (id: string) => call(users.replaceInvitation, { params: { user_id: id } });

export const changeRole = (id: string, role: Role) =>
  call(users.updateUser, { params: { user_id: id }, body: { role } });

export type RoleChange = Awaited<ReturnType<typeof changeRole>>;

export const deactivate = (id: string) => call(users.deactivateUser, { params: { user_id: id } });

export const reactivate = (id: string) => call(users.reactivateUser, { params: { user_id: id } });

export const makeResetLink = (id: string) => call(users.createPasswordResetLink, { params: { user_id: id } });

export const unbindSingleSignOn = (id: string) => call(users.unbindSingleSignOn, { params: { user_id: id } });

export const resetSecondFactor = (id: string) => call(factors.resetSecondFactor, { params: { user_id: id } });

export const teamMembersQuery = queryOptions({
  queryKey: ["team members"],
  queryFn: ({ signal }) => call(teams.listTeamMembers, { signal }),
});

/** Queries to invalidate when a team changes. */
export const teamKeys = [["team members"], ["directory", "teams"], ["users"]] as const;

export const createTeam = (name: string) => call(teams.createTeam, { body: { name } });

export const renameTeam = (id: string, name: string) =>
  call(teams.renameTeam, { params: { team_id: id }, body: { name } });

export const deleteTeam = (id: string) => call(teams.deleteTeam, { params: { team_id: id } });

export const addMember = (id: string, userId: string) =>
  call(teams.addTeamMember, { params: { team_id: id }, body: { user_id: userId } });

export const removeMember = (id: string, userId: string) =>
  call(teams.removeTeamMember, { params: { team_id: id, user_id: userId } });
