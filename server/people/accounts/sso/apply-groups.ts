import { sql } from "kysely";
import type { AuditActor } from "../../../platform/audit/record.ts";
import type { Role } from "../../../platform/auth/principal.ts";
import { findProviderOf, type SignInProvider } from "../../../platform/config/sign-in-providers.ts";
import type { Tx } from "../../../platform/db/database.ts";
import type { SignInUser } from "../sign-in/sign-in.ts";
import {
  findMapped,
  findMappingIssuers,
  leaveMapped,
  leaveTeamsOf,
  ranks,
  recordMember,
  replaceMappedRole,
  revokeMapped,
  type TeamName,
} from "../users/mapped-access.ts";
import type { AdminNeed } from "../users/queries.ts";
import type { ProvenIdentity } from "./single-sign-on.ts";

/** What the groups of a sign-in changed, and what they did not. */
export interface AppliedGroups {
  readonly joined: readonly string[];
  readonly left: readonly string[];
  /** Groups of the user for which the settings say nothing. */
  readonly unmapped: readonly string[];
  /** Teams that the settings name for these groups, and that the workspace doesn't have. */
  readonly unknownTeams: readonly string[];
  /** Teams that the settings name for these groups, and that an identity provider manages by SCIM: it decides. */
  readonly managedTeams: readonly string[];
  /** The role that the groups give; null: none. */
  readonly role: Role | null;
  /** Why the user stays an admin against the groups; null: they don't. */
  readonly staysAdmin: AdminNeed | null;
}

const nothing: AppliedGroups = {
  ...{ joined: [], left: [], unmapped: [], unknownTeams: [], managedTeams: [] },
  ...{ role: null, staysAdmin: null },
};

interface ApplyOptions {
  readonly identity: ProvenIdentity;
  readonly provider: SignInProvider;
  /** All providers of the settings. */
  readonly providers: readonly SignInProvider[];
  readonly actor: AuditActor;
}

/**
 * Brings teams and role of a user in line with their groups at the provider. Memberships that were added by hand stay, and so
 * does everything while the provider does not say which groups the user has. A missing claim means that the user has none.
 * What a provider gave that was removed is revoked. The caller has locked the membership.
 */
export async function applyGroups(
  tx: Tx,
  user: SignInUser,
  { identity, provider, providers, actor }: ApplyOptions,
): Promise<AppliedGroups> {
  const { groups: claim, issuer } = identity;
  const gone = (await findMappingIssuers(tx, user.id)).filter(
    (one) => one !== issuer && findProviderOf(providers, one) === undefined,
  );
  if (claim.kind === "off" || claim.kind === "left_out")
    return { ...nothing, staysAdmin: await revokeMapped(tx, actor, user, gone) };
  const own = new Set(claim.kind === "listed" ? claim.groups : []);
  const matched = provider.groups.filter(({ group }) => own.has(group));
  const mapped = new Set(provider.groups.map(({ group }) => group));
  const roles = matched.flatMap(({ role }) => (role === null ? [] : [role]));
  const role = roles.toSorted((one, other) => ranks[other] - ranks[one])[0] ?? null;
  const wanted = await findTeamsByName(
    tx,
    user.workspace_id,
    matched.flatMap(({ teams }) => teams),
  );
  const ids = new Set(wanted.found.map(({ id }) => id));
  const former = await findMapped(tx, user.id, issuer);
  const unwanted = former.filter(({ id }) => !ids.has(id));
  const held = new Set(former.map(({ id }) => id));
  const missing = wanted.found.filter(({ id }) => !held.has(id));
  const joined: TeamName[] = [];
  const left: TeamName[] = [];
  // In the order of their ids, as every change of several teams.
  for (const team of [...missing, ...unwanted].toSorted((one, other) => (one.id < other.id ? -1 : 1)))
    if (ids.has(team.id)) {
      if (await join(tx, actor, team, user.id, issuer)) joined.push(team);
    } else if (await leaveMapped(tx, actor, team, user.id, issuer)) left.push(team);
  await leaveTeamsOf(tx, actor, user.id, gone);
  const staysAdmin = await replaceMappedRole(tx, actor, user, {
    ...{ issuers: [issuer, ...gone], by: issuer, role },
  });
  return {
    joined: joined.map(({ name }) => name),
    left: left.map(({ name }) => name),
    unmapped: [...own].filter((group) => !mapped.has(group)),
    unknownTeams: wanted.unknown,
    managedTeams: wanted.managed,
    role,
    staysAdmin,
  };
}

/** Teams by name, as the workspace compares names. Those that SCIM created follow SCIM alone. */
async function findTeamsByName(
  tx: Tx,
  workspaceId: string,
  names: readonly string[],
): Promise<{ found: TeamName[]; unknown: string[]; managed: string[] }> {
  if (names.length === 0) return { found: [], unknown: [], managed: [] };
  const { rows } = await sql<{
    asked: string;
    id: string | null;
    name: string | null;
    is_provisioned: boolean | null;
  }>`
    select asked, t.id, t.name, t.is_provisioned from unnest(${[...new Set(names)]}::text[]) asked
    left join teams t on t.workspace_id = ${workspaceId} and t.name_key = parley_fold(asked)`.execute(tx);
  const found = rows.flatMap(({ id, name, is_provisioned }) =>
    id === null || name === null || is_provisioned === true ? [] : [{ id, name }],
  );
  return {
    found: [...new Map(found.map((team) => [team.id, team])).values()],
    unknown: rows.flatMap(({ asked, id }) => (id === null ? [asked] : [])),
    managed: rows.flatMap(({ asked, is_provisioned }) => (is_provisioned === true ? [asked] : [])),
  };
}

/** @returns whether the user was not in the team before. */
async function join(
  tx: Tx,
  actor: AuditActor,
  team: TeamName,
  userId: string,
  issuer: string,
): Promise<boolean> {
  const exists = await tx
    .selectFrom("teams")
    .select("id")
    .where("id", "=", team.id)
    .forUpdate()
    .executeTakeFirst();
  if (exists === undefined) return false;
  const added = await tx
    .insertInto("team_members")
    .values({ team_id: team.id, user_id: userId })
    .onConflict((conflict) => conflict.doNothing())
    .returning("user_id")
    .executeTakeFirst();
  const byOther = await tx
    .selectFrom("mapped_team_members")
    .select("issuer")
    .where("team_id", "=", team.id)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  // A member who was added by hand stays one.
  if (added === undefined && byOther === undefined) return false;
  await tx
    .insertInto("mapped_team_members")
    .values({ team_id: team.id, user_id: userId, issuer })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  if (added !== undefined) await recordMember(tx, actor, team.id, { added: userId });
  return added !== undefined;
}
