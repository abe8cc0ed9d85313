import { sql } from "kysely";
import { acceptsIssuer } from "../../../platform/config/shared-issuers.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Executor, Tx } from "../../../platform/db/database.ts";
import { prepared } from "../../../platform/db/prepared.ts";
import { followChannel } from "../../../platform/db/presence.ts";

/** A setting of the app, as it is stored. */
export interface SettingRow {
  readonly name: string;
  readonly value: string | null;
  readonly encrypted: Buffer | null;
  readonly changed_by: string | null;
  readonly changed_at: Date;
}

/** The settings of the app, with the email of who changed each last. */
export function findSettings(db: Executor): Promise<SettingRow[]> {
  return db
    .selectFrom("settings as s")
    .leftJoin("users as u", "u.id", "s.changed_by")
    .select(["s.name", "s.value", "s.encrypted", "u.email as changed_by", "s.changed_at"])
    .orderBy("s.name")
    .modifyEnd(prepared)
    .execute();
}

/** Until the transaction ends, no other process changes settings. */
export async function lockSettings(tx: Tx): Promise<void> {
  await tx.selectFrom("installation").select("store_step").forUpdate().execute();
}

export async function saveSetting(
  tx: Tx,
  setting: Pick<SettingRow, "name" | "value" | "encrypted"> & { readonly userId: string | null },
): Promise<void> {
  const { name, value, encrypted, userId } = setting;
  const row = { value, encrypted, changed_by: userId };
  await tx
    .insertInto("settings")
    .values({ name, ...row })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ ...row, changed_at: new Date() }))
    .execute();
}

/** Has all processes read the settings once the transaction is committed. */
export async function announceSettings(tx: Tx): Promise<void> {
  await sql`select pg_notify(${followChannel}, '')`.execute(tx);
}

/** Values of settings, encrypted so that a copy of the database does not reveal them. */
export function encryptTexts(encryptor: Encryptor, texts: Readonly<Record<string, string | null>>): Buffer {
  return encryptor.encrypt(JSON.stringify({ encryptedFor: "settings", texts }));
}

/** @throws Error when they were encrypted with another secret. */
export function decryptTexts(encryptor: Encryptor, encrypted: Buffer): Record<string, string | null> {
  const { texts } = JSON.parse(encryptor.decrypt(encrypted)) as { texts: Record<string, string | null> };
  return texts;
}

/** Changes that can be undone are kept in this number. */
const keptChanges = 100;

export async function insertChange(
  tx: Tx,
  change: {
    readonly id: string;
    readonly names: readonly string[];
    readonly previous: Buffer;
    readonly userId: string | null;
  },
): Promise<void> {
  const { id, names, previous, userId } = change;
  await tx
    .insertInto("setting_changes")
    .values({ id, names: [...names], previous, changed_by: userId })
    .execute();
  await tx
    .deleteFrom("setting_changes")
    .where("id", "in", (of) =>
      of
        .selectFrom("setting_changes")
        .select("id")
        .orderBy("changed_at", "desc")
        .orderBy("id")
        .offset(keptChanges),
    )
    .execute();
}

/** The latest changes, newest first. */
export function findChanges(db: Executor) {
  return db
    .selectFrom("setting_changes as c")
    .leftJoin("users as u", "u.id", "c.changed_by")
    .select(["c.id", "c.names", "u.email as changed_by", "c.changed_at", "c.undone_at", "c.previous"])
    .orderBy("c.changed_at", "desc")
    .orderBy("c.id")
    .limit(keptChanges)
    .execute();
}

export async function markUndone(tx: Tx, id: string): Promise<void> {
  await tx.updateTable("setting_changes").set({ undone_at: new Date() }).where("id", "=", id).execute();
}

/**
 * How many users could not sign in any more if only providers with these issuers were left: those without a password, and those
 * of workspaces that allow single sign-on only, except their break-glass admins. Users of such a workspace who have not
 * signed in yet need any provider.
 */
export async function countLockedOut(
  db: Executor,
  configured: readonly string[],
): Promise<{ withoutPassword: number; byRule: number }> {
  const linked = await db.selectFrom("identities").select("issuer").distinct().execute();
  const issuers = linked.flatMap(({ issuer }) =>
    configured.some((one) => acceptsIssuer(one, issuer)) ? [issuer] : [],
  );
  const { rows } = await sql<{ is_by_rule: boolean; count: number }>`
    select is_by_rule, count(*)::int as count from (
      select coalesce(w.security_rules ->> 'single_sign_on_only' = 'true'
          and w.security_rules ->> 'break_glass_user_id' is distinct from u.id::text, false) as is_by_rule,
        u.password_hash is null as has_no_password,
        array(select i.issuer from identities i where i.user_id = u.id) as issuers
      from users u join workspaces w on w.id = u.workspace_id
      where u.deactivated_at is null) u
    where not issuers && ${issuers}::text[]
      and (is_by_rule or has_no_password)
      and (issuers <> '{}' or (is_by_rule and ${configured.length === 0}))
    group by is_by_rule`.execute(db);
  const countOf = (isByRule: boolean) => rows.find((row) => row.is_by_rule === isByRule)?.count ?? 0;
  return { withoutPassword: countOf(false), byRule: countOf(true) };
}
