import { pipeline } from "node:stream/promises";
import { Command, Option } from "commander";
import { type ExportFormat, exportAudit } from "../server/audit/export.ts";
import { listMarked, readMark, replaceMark } from "../server/audit/mark.ts";
import { commandLine, recordAudit } from "../server/audit/record.ts";
import { sealAudit } from "../server/audit/seal.ts";
import { type Verdict, verifyChain } from "../server/audit/verify.ts";
import type { Database } from "../server/db/database.ts";
import { openStore } from "../server/storage/open.ts";
import type { ObjectStore } from "../server/storage/store.ts";
import { collect } from "./options.ts";
import { withDatabase } from "./with-database.ts";

/** The log is not what it should be; the message says how. */
export class AuditBrokenError extends Error {}

/** `parley audit`: the log of who did what. */
export function auditCommand(): Command {
  const verify = new Command("verify")
    .description("check that nothing in the audit log was changed, removed, put in or cut off")
    .option("--workspace <id>", "only this workspace")
    .option("--expect <hash>", "an entry with this hash must be there; may be repeated", collect, [])
    .option("--json", "print a JSON object for each workspace")
    .action((options: VerifyOptions) =>
      withStore(async (db, store) => {
        await sealAudit(db);
        await verifyAll(db, store, options);
      }),
    );
  const exporting = new Command("export")
    .description("print the audit log of a workspace, in the order of its chain")
    .requiredOption("--workspace <id>", "whose log it is")
    .addOption(new Option("--format <format>", "how").choices(["csv", "jsonl"]).default("csv"))
    .action(({ workspace, format }: { workspace: string; format: ExportFormat }) =>
      withDatabase(async (db) => {
        await requireWorkspace(db, workspace);
        await db.kysely.transaction().execute((tx) =>
          recordAudit(tx, commandLine(workspace), {
            action: "audit_log_exported",
            details: { format },
          }),
        );
        await sealAudit(db);
        const filter = { workspaceId: workspace.toLowerCase() };
        await pipeline(exportAudit(db.pool, filter, format), process.stdout, { end: false });
      }),
    );
  const accept = new Command("accept")
    .description("take the log as it is for the right one, such as after an older backup was restored")
    .requiredOption("--workspace <id>", "whose log it is")
    .action(({ workspace }: { workspace: string }) =>
      withStore(async (db, store) => {
        await requireWorkspace(db, workspace);
        const before = await readMark(store, workspace);
        await db.kysely.transaction().execute((tx) =>
          recordAudit(tx, commandLine(workspace), {
            action: "audit_mark_replaced",
            details: { ...before },
          }),
        );
        await sealAudit(db);
        await replaceMark(db, store, workspace);
        console.error("the store takes the log as it is now for the right one");
      }),
    );
  return new Command("audit")
    .description("the log of who did what")
    .addCommand(verify)
    .addCommand(exporting)
    .addCommand(accept);
}

interface VerifyOptions {
  readonly workspace?: string;
  readonly expect: readonly string[];
  readonly json?: boolean;
}

async function verifyAll(db: Database, store: ObjectStore, options: VerifyOptions): Promise<void> {
  const wanted = new Set(options.expect.map((hash) => hash.toLowerCase()));
  const ids = options.workspace === undefined ? await findAll(db, store) : [options.workspace.toLowerCase()];
  if (options.workspace !== undefined) await requireWorkspace(db, options.workspace);
  const broken: string[] = [];
  for (const id of ids) {
    // Read before the log: it may grow meanwhile, and the mark with it.
    const mark = await readMark(store, id);
    const verdict = await verifyChain(db, id, mark, (hash) => {
      if (wanted.size > 0) wanted.delete(hash.toString("hex"));
    });
    print(verdict, options);
    if (verdict.broken !== null)
      broken.push(`workspace ${id}: broken at entry ${verdict.broken.position}: ${verdict.broken.reason}`);
  }
  for (const hash of wanted)
    broken.push(`no entry has the hash ${hash}: it was removed, or the log was written anew`);
  if (broken.length > 0) throw new AuditBrokenError(broken.join("\nparley: "));
}

/** Workspaces of the database, of the log, and those that the store was told of. */
async function findAll(db: Database, store: ObjectStore): Promise<string[]> {
  const { rows } = await db.pool.query<{ id: string }>(
    "select id from workspaces union select workspace_id from audit_chains union select workspace_id from audit_log",
  );
  return [...new Set([...rows.map(({ id }) => id), ...(await listMarked(store))])].sort();
}

function print(verdict: Verdict, { json }: VerifyOptions): void {
  const { workspaceId, position, entries, erased, unsealed, broken } = verdict;
  const hash = verdict.hash.toString("hex");
  const line = json
    ? JSON.stringify({ workspace_id: workspaceId, position, hash, entries, erased, unsealed, broken })
    : `${workspaceId} ${position} ${hash}`;
  process.stdout.write(`${line}\n`);
}

/** @throws AuditBrokenError when there is no such workspace. */
async function requireWorkspace(db: Database, id: string): Promise<void> {
  const { rows } = await db.pool.query("select 1 from workspaces where id::text = $1", [id.toLowerCase()]);
  if (rows.length === 0) throw new AuditBrokenError(`there is no workspace ${id}`);
}

function withStore(work: (db: Database, store: ObjectStore) => Promise<void>): Promise<void> {
  return withDatabase(async (db, config) => {
    const store = await openStore(config);
    try {
      await work(db, store);
    } finally {
      await store.close();
    }
  });
}
