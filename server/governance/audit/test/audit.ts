import pg from "pg";
import type { TestApp } from "../../../../test/support/app.ts";
import type { AuditEntry } from "../../../platform/audit/record.ts";
import { recordAudit } from "../../../platform/audit/record.ts";
import type { Database } from "../../../platform/db/database.ts";
import { readAnchor } from "../anchor.ts";
import { type ChainReport, verifyChain } from "../verify.ts";

/** Writes entries, each in a transaction of its own, as features do. */
export async function writeEntries(
  db: Database,
  workspaceId: string,
  count: number,
  entry: AuditEntry = { action: "settings_changed" },
  actor: { readonly userId?: string; readonly userEmail?: string } = {},
): Promise<void> {
  for (let n = 1; n <= count; n += 1)
    await db.kysely.transaction().execute((tx) =>
      recordAudit(
        tx,
        {
          workspaceId,
          userId: actor.userId ?? null,
          userEmail: actor.userEmail ?? "ann@w.example",
          credential: "session",
          credentialId: null,
          ip: "192.0.2.7",
          userAgent: "test",
        },
        { details: { n }, ...entry },
      ),
    );
}

/** Verifies the log of a workspace against its anchor in the store. */
export async function verify(
  app: Pick<TestApp, "db" | "store">,
  workspaceId: string,
  ttlMs: number | null = null,
): Promise<ChainReport> {
  return verifyChain(app.db, workspaceId, await readAnchor(app.store, workspaceId), ttlMs);
}

/** Changes the log as somebody does who owns the database: the guards are off meanwhile. */
export async function tamper(db: Database, text: string, values: unknown[] = []): Promise<void> {
  const client = await db.pool.connect();
  try {
    await client.query("set session_replication_role = replica");
    const { rowCount } = await client.query(text, values);
    if (rowCount === 0) throw new Error(`nothing was tampered with by: ${text}`);
  } finally {
    await client.query("reset session_replication_role");
    client.release();
  }
}

/** What PostgreSQL says against a statement. @throws Error when it does not. */
export async function refusal(db: Database, text: string, values: unknown[] = []): Promise<string> {
  try {
    await db.pool.query(text, values);
  } catch (error) {
    if (error instanceof pg.DatabaseError) return error.message;
    throw error;
  }
  throw new Error(`the database allowed: ${text}`);
}
