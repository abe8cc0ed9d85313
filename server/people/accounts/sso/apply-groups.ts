import { sql } from "kysely";
import type { AuditActor } from "../../../platform/audit/record.ts";
import { recordAudit } from "../../../platform/audit/record.ts";
import type { Role } from "../../../platform/auth/principal.ts";
import type { SignInProvider } from "../../../platform/config/sign-in-providers.ts";
import type { Tx } from "../../../platform/db/database.ts";
import { changeMembership } from "../../access/grants.ts";
import type { SignInUser } from "../sign-in/sign-in.ts";
import { type AdminNeed, findAdminNeed } from "../users/queries.ts";
import { changeUser } from "../users/users.ts";
import type { ProvenIdentity } from "./single-sign-on.ts";

/** What the groups of a sign-in changed, and what they did not. */
export interface AppliedGroups {
  readonly joined: readonly string[];
  readonly left: readonly string[];
  /** Groups of the user for which the settings say nothing. */
  readonly unmapped: readonly string[];
  /** Teams that the settings name for these groups, and that the workspace doesn't have. */
  readonly unknownTeams: readonly string[];
  /** The role that the groups give; null: none. */
  readonly role: Role | null;
  /** Why the user stays an admin against the groups; null: they don't. */
  readonly staysAdmin: AdminNeed | null;
}

const nothing: AppliedGroups = {
  ...{ joined: [], left: [], unmapped: [], unknownTeams: [] },
  ...{ role: null, staysAdmin: null },
};

const ranks: Readonly<Record<Role, number>> = { viewer: 0, member: 1, admin: 2 };

/**
 * Brings teams and role of a user in line with their groups at the provider. Memberships that were added by hand stay, and so
 * does everything while the provider does not say which groups the user has. A missing claim means that the user has none.
 */
export async function applyGroups(
  tx: Tx,
  user: SignInUser,
  { identity, provider, actor }: { identity: ProvenIdentity; provider: SignInProvider; actor: AuditActor },
): Promise<AppliedGroups> {
  const { groups: claim } = identity;
  if (claim.kind === "off" || claim.kind === "left_out") return nothing;
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
  const former = await findMapped(tx, user.id, identity.issuer);
  const left = former.filter(({ id }) => !ids.has(id));
  const held = new Set(former.map(({ id }) => id));
  const missing = wanted.found.filter(({ id }) => !held.has(id));
  const joined: TeamName[] = [];
  // In the order of their ids, as every change of several teams.
  for (const team of [...missing, ...left].toSorted((one, other) => (one.id < other.id ? -1 : 1)))
    if (ids.has(team.id)) {
      if (await join(tx, actor, team, user.id, identity.issuer)) joined.push(team);
    } else await leave(tx, actor, team, user.id, identity.issuer);
  const staysAdmin = await applyRole(tx, actor, user, { issuer: identity.issuer, role });
  return {
    joined: joined.map(({ name }) => name),
    left: left.map(({ name }) => name),
    unmapped: [...own].filter((group) => !mapped.has(group)),
    unknownTeams: wanted.unknown,
    role,
    staysAdmin,
  };
}

interface TeamName {
  readonly id: string;
  readonly name: string;
}

/** Teams by name, as the workspace compares names. */
async function findTeamsByName(
  tx: Tx,
  workspaceId: string,
  names: readonly string[],
): Promise<{ found: TeamName[]; unknown: string[] }> {
  if (names.length === 0) return { found: [], unknown: [] };
  const { rows } = await sql<{ asked: string; id: string | null; name: string | null }>`
    select asked, t.id, t.name from unnest(${[...new Set(names)]}::text[]) asked
    left join teams t on t.workspace_id = ${workspaceId} and t.name_key = parley_fold(asked)`.execute(tx);
  const found = rows.flatMap(({ id, name }) => (id === null || name === null ? [] : [{ id, name }]));
  return {
    found: [...new Map(found.map((team) => [team.id, team])).values()],
    unknown: rows.flatMap(({ asked, id }) => (id === null ? [asked] : [])),
  };
}

/** Teams that a provider brought the user into. */
async function findMapped(tx: Tx, userId: string, issuer: string): Promise<TeamName[]> {
  return tx
    .selectFrom("mapped_team_members as m")
    .innerJoin("teams as t", "t.id", "m.team_id")
    .select(["t.id", "t.name"])
    .where("m.user_id", "=", userId)
    .where("m.issuer", "=", issuer)
    .execute();
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

async function leave(
  tx: Tx,
  actor: AuditActor,
  team: TeamName,
  userId: string,
  issuer: string,
): Promise<void> {
  await tx.selectFrom("teams").select("id").where("id", "=", team.id).forUpdate().execute();
  await tx
    .deleteFrom("mapped_team_members")
    .where("team_id", "=", team.id)
    .where("user_id", "=", userId)
    .where("issuer", "=", issuer)
    .execute();
  const removed = await tx
    .deleteFrom("team_members")
    .where("team_id", "=", team.id)
    .where("user_id", "=", userId)
    .where((of) =>
      of.not(
        of.exists(
          of
            .selectFrom("mapped_team_members as m")
            .select("m.issuer")
            .where("m.team_id", "=", team.id)
            .where("m.user_id", "=", userId),
        ),
      ),
    )
    .returning("user_id")
    .executeTakeFirst();
  if (removed !== undefined) await recordMember(tx, actor, team.id, { removed: userId });
}

async function recordMember(tx: Tx, actor: AuditActor, teamId: string, details: object): Promise<void> {
  await recordAudit(tx, actor, {
    action: "team_changed",
    subject: { type: "team", id: teamId },
    details: { ...details, by: "single_sign_on" },
  });
}

/**
 * Gives the role of the groups; without one, lowers the role that they gave before to member.
 * @returns why the user stays an admin against that; null: they don't.
 */
async function applyRole(
  tx: Tx,
  actor: AuditActor,
  user: SignInUser,
  { issuer, role }: { readonly issuer: string; readonly role: Role | null },
): Promise<AdminNeed | null> {
  const identity = await tx
    .selectFrom("identities")
    .select("mapped_role")
    .where("user_id", "=", user.id)
    .where("issuer", "=", issuer)
    .executeTakeFirst();
  const given = identity?.mapped_role ?? null;
  if (role === null && given === null) return null;
  await changeMembership(tx, user.workspace_id);
  const { role: present } = await tx
    .selectFrom("users")
    .select("role")
    .where("id", "=", user.id)
    .executeTakeFirstOrThrow();
  // What the groups gave is revoked, unless an admin has decided otherwise since.
  const wasGiven = present === given;
  const next = role ?? (wasGiven && ranks[present as Role] > ranks.member ? "member" : present);
  const need =
    present === "admin" && next !== "admin" ? await findAdminNeed(tx, user.workspace_id, user.id) : null;
  if (need !== null) return need;
  if (next !== present) await changeUser(tx, actor, user.id, { role: next as Role });
  // A role that an admin gave stays when the user leaves the group.
  const recorded = next !== present || wasGiven ? role : null;
  if (recorded !== given)
    await tx
      .updateTable("identities")
      .set({ mapped_role: recorded })
      .where("user_id", "=", user.id)
      .where("issuer", "=", issuer)
      .execute();
  return null;
}
