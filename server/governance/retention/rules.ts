import { randomUUIDv7 } from "node:crypto";
import { type RawBuilder, type Selectable, sql } from "kysely";
import { because } from "../../../contract/causes/causes.ts";
import type { Violation } from "../../../contract/errors.ts";
import { type AuditActor, recordAudit } from "../../platform/audit/record.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import type { RetentionRules } from "../../platform/db/types.ts";
import { invalidInput, ProblemError } from "../../platform/http/errors/problem.ts";
import type { Conditions } from "./matching.ts";

export type RuleRow = Omit<Selectable<RetentionRules>, "scope"> & { readonly scope: Conditions["scope"] };

/** Rules of one workspace. */
const maxRules = 100;

export interface RuleInput extends Conditions {
  readonly name: string;
  readonly is_enabled: boolean;
}

export async function findRules(db: Database, workspaceId: string): Promise<RuleRow[]> {
  const rows = await db.kysely
    .selectFrom("retention_rules")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows as RuleRow[];
}

interface Change {
  readonly db: Database;
  readonly principal: Principal;
  readonly actor: AuditActor;
  /** Milliseconds until a new or changed rule acts. */
  readonly graceMs: number;
}

/** Creates a rule. */
export async function createRule(
  { db, principal, actor, graceMs }: Change,
  input: RuleInput,
): Promise<RuleRow> {
  return db.kysely.transaction().execute(async (tx) => {
    await checkReferences(tx, principal.workspaceId, input);
    const { count } = await tx
      .selectFrom("retention_rules")
      .select((eb) => eb.fn.countAll<string>().as("count"))
      .where("workspace_id", "=", principal.workspaceId)
      .executeTakeFirstOrThrow();
    if (Number(count) >= maxRules)
      throw new ProblemError("wrong_state", because("retention_rule_limit", { limit: maxRules }));
    const row = await tx
      .insertInto("retention_rules")
      .values({
        ...input,
        id: randomUUIDv7(),
        workspace_id: principal.workspaceId,
        created_by: principal.userId,
        acts_from: after(graceMs),
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await auditRule(tx, actor, row.id, { rule: describe(input) });
    return row as RuleRow;
  });
}

/** Updates the given properties of a rule. */
export async function updateRule(
  { db, principal, actor, graceMs }: Change,
  ruleId: string,
  change: Partial<{ [Name in keyof RuleInput]: RuleInput[Name] | undefined }>,
): Promise<RuleRow> {
  return db.kysely.transaction().execute(async (tx) => {
    const before = await tx
      .selectFrom("retention_rules")
      .selectAll()
      .where("id", "=", ruleId)
      .where("workspace_id", "=", principal.workspaceId)
      .forUpdate()
      .executeTakeFirst();
    if (before === undefined) throw ruleNotFound(ruleId);
    const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
    const rule = { ...(before as RuleRow), ...given };
    await checkReferences(tx, principal.workspaceId, rule);
    const row = await tx
      .updateTable("retention_rules")
      .set({ ...given, acts_from: after(graceMs), updated_at: sql<Date>`clock_timestamp()` })
      .where("id", "=", ruleId)
      .returningAll()
      .executeTakeFirstOrThrow();
    await auditRule(tx, actor, ruleId, { before: describe(before as RuleRow), rule: describe(rule) });
    return row as RuleRow;
  });
}

export async function deleteRule(
  { db, principal, actor }: Omit<Change, "graceMs">,
  ruleId: string,
): Promise<{ success: true }> {
  return db.kysely.transaction().execute(async (tx) => {
    const row = await tx
      .deleteFrom("retention_rules")
      .where("id", "=", ruleId)
      .where("workspace_id", "=", principal.workspaceId)
      .returningAll()
      .executeTakeFirst();
    if (row === undefined) throw ruleNotFound(ruleId);
    await auditRule(tx, actor, ruleId, { before: describe(row as RuleRow) });
    return { success: true };
  });
}

function after(graceMs: number): RawBuilder<Date> {
  return sql<Date>`clock_timestamp() + ${graceMs}::float8 * interval '1 millisecond'`;
}

function ruleNotFound(ruleId: string): ProblemError {
  return new ProblemError("not_found", `there is no retention rule ${ruleId} in this workspace`);
}

/** @throws ProblemError `invalid_input` for an unknown team or meeting type. */
export async function checkReferences(tx: Tx, workspaceId: string, conditions: Conditions): Promise<void> {
  const violations: Violation[] = [];
  for (const [name, table, what] of [
    ["team_id", "teams", "team"],
    ["meeting_type_id", "meeting_types", "meeting type"],
  ] as const) {
    const id = conditions[name];
    if (id === null) continue;
    const found = await tx
      .selectFrom(table)
      .select("id")
      .where("id", "=", id)
      .where("workspace_id", "=", workspaceId)
      // Locked until the rule is written, so that it does not name a deleted one.
      .forKeyShare()
      .executeTakeFirst();
    if (found === undefined)
      violations.push({ pointer: `/${name}`, detail: `is not a ${what} in this workspace` });
  }
  if (violations.length > 0) throw invalidInput(violations);
}

function describe({ name, older_than_days, team_id, meeting_type_id, tag, scope, is_enabled }: RuleInput) {
  return { name, older_than_days, team_id, meeting_type_id, tag, scope, enabled: is_enabled };
}

function auditRule(tx: Tx, actor: AuditActor, id: string, details: Record<string, unknown>): Promise<void> {
  return recordAudit(tx, actor, {
    action: "settings_changed",
    subject: { type: "retention_rule", id },
    details,
  });
}
