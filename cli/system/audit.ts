import { pipeline } from "node:stream/promises";
import { Command, Option } from "commander";
import { listAnchored, readAnchor, replaceAnchor } from "../../server/governance/audit/anchor.ts";
import { type ExportFormat, exportAudit } from "../../server/governance/audit/export.ts";
import { sealAudit } from "../../server/governance/audit/seal.ts";
import { type ChainReport, verifyChain } from "../../server/governance/audit/verify.ts";
import { commandLine, recordAudit } from "../../server/platform/audit/record.ts";
import type { Database } from "../../server/platform/db/database.ts";
import type { ObjectStore } from "../../server/platform/storage/store.ts";
import { AuditBrokenError } from "../support/errors.ts";
import { collect } from "../support/options.ts";
import { withDatabase } from "../support/with-database.ts";
import { withStore } from "../support/with-store.ts";

export function auditCommand(command: Command): Command {
  const verify = new Command("verify")
    .description("check that no audit log entry was changed, removed, inserted or cut off")
    .option("--workspace <id>", "check only this workspace")
    .option("--expect <hash>", "require an entry with this hash; can be repeated", collect, [])
    .option("--json", "print a JSON object per workspace")
    .action((options: VerifyOptions) =>
      withStore(async (db, store, config) => {
        await sealAudit(db);
        await verifyAll(db, store, config.auditTtlMs, options);
      }),
    );
  const exporting = new Command("export")
    .description("print a workspace's audit log in the order of its chain")
    .requiredOption("--workspace <id>", "workspace ID")
    .addOption(new Option("--format <format>", "output format").choices(["csv", "jsonl"]).default("csv"))
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
        await pipeline(exportAudit(db, null, filter, format), process.stdout, { end: false });
      }),
    );
  const accept = new Command("accept")
    .description("trust the current log, for example after restoring an older backup")
    .requiredOption("--workspace <id>", "workspace ID")
    .action(({ workspace }: { workspace: string }) =>
      withStore(async (db, store) => {
        await requireWorkspace(db, workspace);
        const before = await readAnchor(store, workspace);
        await db.kysely.transaction().execute((tx) =>
          recordAudit(tx, commandLine(workspace), {
            action: "audit_mark_replaced",
            details: before === null ? {} : { position: before.position, hash: before.hash },
          }),
        );
        await sealAudit(db);
        await replaceAnchor(db, store, workspace);
        console.error("the audit log is accepted as it is now; the object store has a new anchor");
      }),
    );
  return command.addCommand(verify).addCommand(exporting).addCommand(accept);
}

interface VerifyOptions {
  readonly workspace?: string;
  readonly expect: readonly string[];
  readonly json?: boolean;
}

async function verifyAll(
  db: Database,
  store: ObjectStore,
  ttlMs: number | null,
  options: VerifyOptions,
): Promise<void> {
  const wanted = new Set(options.expect.map((hash) => hash.toLowerCase()));
  const ids = options.workspace === undefined ? await findAll(db, store) : [options.workspace.toLowerCase()];
  if (options.workspace !== undefined) await requireWorkspace(db, options.workspace);
  const problems: string[] = [];
  for (const id of ids) {
    // Read before the log, because both may grow in the meantime.
    const anchor = await readAnchor(store, id);
    const report = await verifyChain(db, id, anchor, ttlMs, (hash) => {
      if (wanted.size > 0) wanted.delete(hash.toString("hex"));
    });
    print(report, options);
    if (report.broken !== null)
      problems.push(`workspace ${id}: broken at entry ${report.broken.position}: ${report.broken.reason}`);
  }
  for (const hash of wanted)
    problems.push(`no entry has the hash ${hash}: it was removed, or the log was rewritten`);
  if (problems.length > 0) throw new AuditBrokenError(problems.join("\nparley: "));
}

/** Workspaces in the database, in the log, and with an anchor in the object store. */
async function findAll(db: Database, store: ObjectStore): Promise<string[]> {
  const { rows } = await db.pool.query<{ id: string }>(
    "select id from workspaces union select workspace_id from audit_chains union select workspace_id from audit_log",
  );
  return [...new Set([...rows.map(({ id }) => id), ...(await listAnchored(store))])].sort();
}

function print(report: ChainReport, { json }: VerifyOptions): void {
  const { workspaceId, pruned, position, entries, erased, unsealed, broken } = report;
  const hash = report.hash.toString("hex");
  const line = json
    ? JSON.stringify({
        workspace_id: workspaceId,
        pruned_position: pruned,
        position,
        hash,
        entries,
        erased,
        unsealed,
        broken,
      })
    : `${workspaceId} ${position} ${hash}`;
  process.stdout.write(`${line}\n`);
  if (pruned > 0)
    console.error(
      `workspace ${workspaceId}: the log begins at entry ${pruned + 1}; older ones were removed because of their age`,
    );
}

/** @throws AuditBrokenError if the workspace does not exist. */
async function requireWorkspace(db: Database, id: string): Promise<void> {
  const { rows } = await db.pool.query("select 1 from workspaces where id::text = $1", [id.toLowerCase()]);
  if (rows.length === 0)
    throw new AuditBrokenError(`workspace ${id} does not exist; see parley workspace list`);
}
