import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type * as people from "../../contract/account-people.ts";
import type { Role as RoleName } from "../../contract/account-sessions.ts";
import type * as teams from "../../contract/account-teams.ts";
import { call, path } from "./client.ts";

export type Person = z.output<typeof people.Person>;
export type Role = z.output<typeof RoleName>;
export type Team = z.output<typeof teams.TeamWithMembers>;

/** A one-time link for a person, and until when it is good. */
export interface OneTimeLink {
  readonly url: string;
  readonly expires_at: string;
  readonly mailed: boolean;
}

export const peopleQuery = queryOptions({
  queryKey: ["people"],
  queryFn: ({ signal }) => call<typeof people.listPeople>("GET", "/_/api/v1/users", { signal }),
});

export const invite = (body: z.input<typeof people.inviteUser.body>) =>
  call<typeof people.inviteUser>("POST", "/_/api/v1/users", { body });

export const renewInvitation = (id: string) =>
  call<typeof people.renewInvitation>("POST", path`/_/api/v1/users/${id}/invitation`);

export const changeRole = (id: string, role: Role) =>
  call<typeof people.updateUser>("PATCH", path`/_/api/v1/users/${id}`, { body: { role } });

export const deactivate = (id: string) =>
  call<typeof people.deactivateUser>("POST", path`/_/api/v1/users/${id}/deactivate`);

export const reactivate = (id: string) =>
  call<typeof people.reactivateUser>("POST", path`/_/api/v1/users/${id}/reactivate`);

export const makeResetLink = (id: string) =>
  call<typeof people.createPasswordResetLink>("POST", path`/_/api/v1/users/${id}/password-reset-link`);

export const unbindSingleSignOn = (id: string) =>
  call<typeof people.unbindSingleSignOn>("DELETE", path`/_/api/v1/users/${id}/single-sign-on`);

export const teamMembersQuery = queryOptions({
  queryKey: ["team members"],
  queryFn: ({ signal }) => call<typeof teams.listTeamMembers>("GET", "/_/api/v1/teams", { signal }),
});

/** What has to be loaded again when a team changed. */
export const teamKeys = [["team members"], ["directory", "teams"], ["people"]] as const;

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
