import { sql } from "kysely";
import { noRules, type SecurityRules } from "../../../../contract/accounts/security.ts";
import { because, type Explanation } from "../../../../contract/causes/causes.ts";
import type { Violation } from "../../../../contract/errors.ts";
import { type AuditActor, recordAudit } from "../../../platform/audit/record.ts";
import type { Tx } from "../../../platform/db/database.ts";
import type { StoredRules } from "../../../platform/db/json-columns.ts";
import { invalidInput, ProblemError } from "../../../platform/http/errors/problem.ts";
import { parseRanges } from "../../../platform/outbound/address-ranges.ts";
import { ruleRefusal } from "../../access/security-rules.ts";
import { ruledSession } from "../tokens/queries.ts";

/** What a request changes; properties that are left out stay. */
export type RulesChange = { readonly [Name in keyof SecurityRules]?: SecurityRules[Name] | undefined };

/** The rules as a request sees them. */
export function rulesOf(stored: StoredRules | null): StoredRules {
  return stored ?? { ...noRules, admins_since: null, all_since: null, single_sign_on_since: null };
}

/** The rules after a change, with the times from which they hold. */
export function changedRules(stored: StoredRules | null, change: RulesChange, now: Date): StoredRules {
  const before = rulesOf(stored);
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  const next: StoredRules = { ...before, ...given };
  const at = now.toISOString();
  const isForAll = next.second_factor === "all";
  return {
    ...next,
    allowed_addresses: [...new Set(next.allowed_addresses)],
    // As the database writes ids.
    break_glass_user_id: next.break_glass_user_id?.toLowerCase() ?? null,
    all_since: isForAll ? (before.all_since ?? at) : null,
    // Admins who had to have one already get no new grace period when all users need one, or only they do again.
    admins_since: next.second_factor === "nobody" ? null : (before.admins_since ?? before.all_since ?? at),
    single_sign_on_since: next.single_sign_on_only ? (before.single_sign_on_since ?? at) : null,
  };
}

/** The admin who changes rules, by the session that they use. */
export interface RulesAuthor {
  readonly workspaceId: string;
  readonly sessionId: string;
  readonly ip: string;
}

/**
 * Checks rules before they are saved or previewed.
 * @throws ProblemError `invalid_input`; `wrong_state` without a provider for single sign-on.
 */
export async function checkRules(
  tx: Tx,
  rules: StoredRules,
  { workspaceId, hasSingleSignOn }: { readonly workspaceId: string; readonly hasSingleSignOn: boolean },
): Promise<void> {
  const violations: Violation[] = rules.allowed_addresses.flatMap((text, index) => {
    const detail = rangeProblem(text);
    return detail === null ? [] : [{ pointer: `/allowed_addresses/${index}`, detail }];
  });
  // Only while the rule is on, so that it can always be turned off.
  if (rules.single_sign_on_only) {
    const detail = await breakGlassProblem(tx, workspaceId, rules.break_glass_user_id);
    if (detail !== null) violations.push({ pointer: "/break_glass_user_id", detail });
  }
  if (violations.length > 0) throw invalidInput(violations);
  if (rules.single_sign_on_only && !hasSingleSignOn)
    throw new ProblemError("wrong_state", because("single_sign_on_missing"));
}

function rangeProblem(text: string): string | null {
  try {
    return parseRanges(text).length === 1 ? null : "must be one IP address or CIDR range";
  } catch {
    return "must be an IP address or CIDR range, such as 192.0.2.0/24 or 2001:db8::/32";
  }
}

async function breakGlassProblem(tx: Tx, workspaceId: string, userId: string | null): Promise<string | null> {
  if (userId === null)
    return "must name an admin who can still sign in with a password when the provider can't be reached";
  const user = await tx
    .selectFrom("users as u")
    .leftJoin("second_factors as f", "f.user_id", "u.id")
    .select(["u.role", "u.password_hash", "f.confirmed_at"])
    .where("u.id", "=", userId)
    .where("u.workspace_id", "=", workspaceId)
    .where("u.deactivated_at", "is", null)
    .executeTakeFirst();
  if (user === undefined || user.role !== "admin") return "must be an admin of this workspace";
  return user.password_hash === null || user.confirmed_at === null
    ? "must be an admin who has a password and two-factor authentication turned on"
    : null;
}

/** Why the rules would refuse their author at once, in words; null: they don't, or the author uses a token. */
export async function authorRefusal(
  tx: Tx,
  rules: StoredRules,
  author: RulesAuthor,
): Promise<Explanation | null> {
  const session = await findAuthor(tx, author);
  return session === undefined ? null : refusalOf(rules, session, author);
}

function findAuthor(tx: Tx, author: RulesAuthor) {
  return tx
    .selectFrom("sessions as s")
    .innerJoin("users as u", "u.id", "s.user_id")
    .select([
      "s.user_id",
      "s.method",
      "s.second_factor",
      "s.created_at as since",
      "u.created_at as user_since",
    ])
    .select("u.role")
    .where("s.id", "=", author.sessionId)
    .executeTakeFirst();
}

type Author = NonNullable<Awaited<ReturnType<typeof findAuthor>>>;

function refusalOf(rules: StoredRules, session: Author, author: RulesAuthor): Explanation | null {
  const now = new Date();
  const refusal = ruleRefusal(
    rules,
    // The session is in use by this request.
    ruledSession(
      { ...session, has_second_factor: session.second_factor !== null, last_used_at: now },
      author.ip,
    ),
    now,
  );
  return refusal && because(`lockout_${refusal}`);
}

/**
 * Changes the rules of a workspace.
 * @throws ProblemError `invalid_input`; `wrong_state` for rules that would refuse their author at once; `forbidden` when the
 * author's session has ended meanwhile.
 */
export async function saveRules(
  tx: Tx,
  actor: AuditActor,
  author: RulesAuthor,
  change: RulesChange,
  { hasSingleSignOn }: { readonly hasSingleSignOn: boolean },
): Promise<void> {
  const { workspaceId } = author;
  const before = await lockRules(tx, workspaceId);
  const rules = changedRules(before, change, await databaseTime(tx));
  await checkRules(tx, rules, { workspaceId, hasSingleSignOn });
  const session = await findAuthor(tx, author);
  if (session === undefined)
    throw new ProblemError("forbidden", "the session of this request has ended; sign in again");
  const refusal = refusalOf(rules, session, author);
  if (refusal !== null) throw new ProblemError("wrong_state", refusal);
  await storeRules(tx, actor, before, rules);
}

/** Removes all rules of a workspace. @returns whether there were any. */
export async function resetRules(tx: Tx, actor: AuditActor): Promise<boolean> {
  const before = await lockRules(tx, actor.workspaceId);
  if (before === null) return false;
  await storeRules(tx, actor, before, rulesOf(null));
  return true;
}

/** As tokens are dated, so that another clock of this server lets none from before a rule pass. */
async function databaseTime(tx: Tx): Promise<Date> {
  const { rows } = await sql<{ at: Date }>`select clock_timestamp() as at`.execute(tx);
  return rows[0]?.at ?? new Date();
}

async function lockRules(tx: Tx, workspaceId: string): Promise<StoredRules | null> {
  const row = await tx
    .selectFrom("workspaces")
    .select("security_rules")
    .where("id", "=", workspaceId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  return row.security_rules;
}

async function storeRules(
  tx: Tx,
  actor: AuditActor,
  before: StoredRules | null,
  rules: StoredRules,
): Promise<void> {
  const names = Object.keys(noRules) as (keyof SecurityRules)[];
  const old = rulesOf(before);
  const changed = names.filter((name) => JSON.stringify(old[name]) !== JSON.stringify(rules[name]));
  if (changed.length === 0) return;
  const isDefault = names.every((name) => JSON.stringify(noRules[name]) === JSON.stringify(rules[name]));
  await tx
    .updateTable("workspaces")
    // Null costs nothing in each request.
    .set({ security_rules: isDefault ? null : JSON.stringify(rules) })
    .where("id", "=", actor.workspaceId)
    .execute();
  await recordAudit(tx, actor, {
    action: "security_rules_changed",
    subject: { type: "workspace", id: actor.workspaceId },
    details: {
      before: Object.fromEntries(changed.map((name) => [name, old[name]])),
      after: Object.fromEntries(changed.map((name) => [name, rules[name]])),
    },
  });
}
