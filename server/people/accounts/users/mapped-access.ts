import { type AuditActor, recordAudit } from "../../../platform/audit/record.ts";
import type { Role } from "../../../platform/auth/principal.ts";
import type { Executor, Tx } from "../../../platform/db/database.ts";
import { type AdminNeed, findAdminNeed } from "./queries.ts";
import { changeUser } from "./users.ts";

/** The user whose groups at a provider of single sign-on gave teams and a role. */
interface MappedUser {
  readonly id: string;
  readonly workspace_id: string;
}

export interface TeamName {
  readonly id: string;
  readonly name: string;
}

export const ranks: Readonly<Record<Role, number>> = { viewer: 0, member: 1, admin: 2 };

/** Teams that groups at a provider brought the user into. */
export async function findMapped(tx: Tx, userId: string, issuer: string): Promise<TeamName[]> {
  return tx
    .selectFrom("mapped_team_members as m")
    .innerJoin("teams as t", "t.id", "m.team_id")
    .select(["t.id", "t.name"])
    .where("m.user_id", "=", userId)
    .where("m.issuer", "=", issuer)
    .execute();
}

/**
 * Ends a membership that groups at a provider gave, unless those at another one give it too. In a team that SCIM manages only
 * what is known of the groups ends: there SCIM decides who is a member.
 * @returns whether the membership ended.
 */
export async function leaveMapped(
  tx: Tx,
  actor: AuditActor,
  team: { readonly id: string },
  userId: string,
  issuer: string,
): Promise<boolean> {
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
    .where("team_id", "in", (of) => of.selectFrom("teams").select("id").where("is_provisioned", "=", false))
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
  return removed !== undefined;
}

export async function recordMember(
  tx: Tx,
  actor: AuditActor,
  teamId: string,
  details: object,
): Promise<void> {
  await recordAudit(tx, actor, {
    action: "team_changed",
    subject: { type: "team", id: teamId },
    details: { ...details, by: "single_sign_on" },
  });
}

/**
 * Gives the role of the groups; without one, lowers the role that they gave before to member. The caller has locked the
 * membership.
 * @param issuers of the identities whose role is replaced.
 * @param by the issuer whose groups give the role; null: none does any more.
 * @returns why the user stays an admin against that; null: they don't.
 */
export async function replaceMappedRole(
  tx: Tx,
  actor: AuditActor,
  user: MappedUser,
  { issuers, by, role }: { issuers: readonly string[]; by: string | null; role: Role | null },
): Promise<AdminNeed | null> {
  if (issuers.length === 0) return null;
  const identities = await tx
    .selectFrom("identities")
    .select(["issuer", "mapped_role"])
    .where("user_id", "=", user.id)
    .where("issuer", "in", issuers)
    .execute();
  const given = identities.flatMap(({ mapped_role }) => (mapped_role === null ? [] : [mapped_role]));
  if (role === null && given.length === 0) return null;
  const { role: present } = await tx
    .selectFrom("users")
    .select("role")
    .where("id", "=", user.id)
    .executeTakeFirstOrThrow();
  // What the groups gave is revoked, unless an admin has decided otherwise since.
  const wasGiven = given.some((one) => one === present);
  const next = role ?? (wasGiven && ranks[present as Role] > ranks.member ? "member" : present);
  const need =
    present === "admin" && next !== "admin" ? await findAdminNeed(tx, user.workspace_id, user.id) : null;
  if (need !== null) return need;
  if (next !== present) await changeUser(tx, actor, user.id, { role: next as Role });
  // A role that an admin gave stays when the user leaves the group.
  const recorded = next !== present || wasGiven ? role : null;
  for (const { issuer, mapped_role } of identities) {
    const value = issuer === by ? recorded : null;
    if (value !== mapped_role)
      await tx
        .updateTable("identities")
        .set({ mapped_role: value })
        .where("user_id", "=", user.id)
        .where("issuer", "=", issuer)
        .execute();
  }
  return null;
}

/**
 * Revokes what groups at these providers gave. The caller has locked the membership.
 * @returns why the user stays an admin against that; null: they don't.
 */
export async function revokeMapped(
  tx: Tx,
  actor: AuditActor,
  user: MappedUser,
  issuers: readonly string[],
): Promise<AdminNeed | null> {
  await leaveTeamsOf(tx, actor, user.id, issuers);
  return replaceMappedRole(tx, actor, user, { issuers, by: null, role: null });
}

/** Ends the memberships in teams that groups at these providers gave. */
export async function leaveTeamsOf(
  tx: Tx,
  actor: AuditActor,
  userId: string,
  issuers: readonly string[],
): Promise<void> {
  if (issuers.length === 0) return;
  const rows = await tx
    .selectFrom("mapped_team_members")
    .select(["team_id", "issuer"])
    .where("user_id", "=", userId)
    .where("issuer", "in", issuers)
    // As every change of several teams.
    .orderBy("team_id")
    .execute();
  for (const { team_id, issuer } of rows) await leaveMapped(tx, actor, { id: team_id }, userId, issuer);
}

/** Issuers whose groups gave the user a team or a role. */
export async function findMappingIssuers(db: Executor, userId: string): Promise<string[]> {
  const ofTeams = await db
    .selectFrom("mapped_team_members")
    .select("issuer")
    .distinct()
    .where("user_id", "=", userId)
    .execute();
  const ofRoles = await db
    .selectFrom("identities")
    .select("issuer")
    .where("user_id", "=", userId)
    .where("mapped_role", "is not", null)
    .execute();
  return [...new Set([...ofTeams, ...ofRoles].map(({ issuer }) => issuer))];
}
