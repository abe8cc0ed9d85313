import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { runLocalWorker } from "../../server/connections/imports/local-worker.ts";
import {
  endRun,
  findFileNotices,
  findReport,
  insertRun,
  type ReportRow,
  type RunResult,
} from "../../server/connections/imports/runs/queries.ts";
import { runImport } from "../../server/connections/imports/runs/run.ts";
import { ImportError } from "../../server/connections/imports/sources/errors.ts";
import { openSource, sourceKinds } from "../../server/connections/imports/sources/index.ts";
import type { ImportSource } from "../../server/connections/imports/sources/source.ts";
import { jobKinds } from "../../server/jobs.ts";
import { chooseWorkspace } from "../../server/people/accounts/service.ts";
import { commandLine, recordAudit } from "../../server/platform/audit/record.ts";
import type { Config } from "../../server/platform/config/config.ts";
import type { Database } from "../../server/platform/db/database.ts";
import { openJobQueue } from "../../server/platform/jobs/queue.ts";
import { counted, listOmitted } from "../../shared/counted.ts";
import { foldCase } from "../../shared/fold-case.ts";
import { reportProgress } from "../support/report-progress.ts";
import { readToolConfig } from "../support/with-database.ts";
import { withStore } from "../support/with-store.ts";

interface Options {
  from: (typeof sourceKinds)[number];
  baseUrl?: string;
  allowHttp?: boolean;
  token?: string;
  columns?: string;
  workspace?: string;
  owner?: string;
  dryRun?: boolean;
  json?: boolean;
}

/** How many recordings of the report are printed. */
const maxReported = 1000;

/** `parley import`. */
export function importCommand(command: Command): Command {
  return command
    .argument("[path]", "the folder or file of an export; not for --from grain")
    .addOption(
      new Option("--from <source>", "what the recordings come from").choices(sourceKinds).default("parley"),
    )
    .option("--base-url <url>", "for grain: the URL of the service")
    .option(
      "--allow-http",
      "for grain: accept a URL without https, other than of this machine, which sends the token unencrypted",
    )
    .addOption(
      new Option("--token <token>", "for grain: an access token of the service").env("PARLEY_IMPORT_TOKEN"),
    )
    .option("--columns <mapping>", "for csv: which columns have what, such as title=Name,start=Date")
    .option("--workspace <id>", "workspace ID; required if there are several workspaces")
    .option(
      "--owner <email>",
      "the user who owns recordings whose recorders have no user here (default: the first admin)",
    )
    .option("--dry-run", "only count what would be imported, and what can't be")
    .option("--json", "print progress and result as lines of JSON")
    .action(async (path: string | undefined, options: Options) => {
      const config = readToolConfig();
      const source = await openSource(options.from, {
        path: path === undefined ? null : resolve(path),
        baseUrl: options.baseUrl ?? null,
        allowHttp: options.allowHttp ?? false,
        token: options.token ?? null,
        columns: options.columns ?? null,
        config,
      });
      try {
        await importFrom(source, options, config);
      } finally {
        await source.close?.();
      }
    });
}

async function importFrom(source: ImportSource, options: Options, config: Config): Promise<void> {
  const report = reportProgress(options);
  await withStore(async (db, store) => {
    const row = await startRun(db, source, options);
    const jobs = openJobQueue(jobKinds);
    const stopWorker = await runLocalWorker({ db, jobs, store, config });
    try {
      const result = await runImport({ db, jobs, store, config }, row, source, {
        onProgress: report.update,
      });
      report.done();
      const ended = await findCounts(db, row.id);
      const notes = [...(source.notes?.() ?? []), ...(await findFileNotices(db.kysely, row.id, maxReported))];
      const rows = await findReport(db.kysely, row.id, maxReported);
      if (options.json)
        process.stdout.write(
          `${JSON.stringify({ phase: "done", run_id: row.id, counts: ended, ...result, notes, report: rows })}\n`,
        );
      else printReport(rows);
      for (const note of notes) console.error(`note: ${note}`);
      console.error(describeResult(ended, result, options.dryRun ?? false));
      if (result.failed > 0) process.exitCode = 1;
    } catch (error) {
      const reason = (error as Error).message.slice(0, 1000);
      await db.kysely.transaction().execute((tx) => endRun(tx, row.id, "failed", reason));
      throw error;
    } finally {
      report.done();
      await stopWorker();
    }
  }, config);
}

async function startRun(db: Database, source: ImportSource, options: Options) {
  return db.kysely.transaction().execute(async (tx) => {
    const workspaceId = await chooseWorkspace(tx, options.workspace);
    const owner = await tx
      .selectFrom("users")
      .select("id")
      .where("workspace_id", "=", workspaceId)
      .where("deactivated_at", "is", null)
      .$if(options.owner === undefined, (query) => query.where("role", "=", "admin"))
      .$if(options.owner !== undefined, (query) =>
        query.where("email_key", "=", foldCase(options.owner ?? "")),
      )
      .orderBy("created_at")
      .orderBy("id")
      .executeTakeFirst();
    if (owner === undefined)
      throw new ImportError(
        options.owner === undefined
          ? "the workspace has no active admin; name the owner of the recordings with --owner"
          : `${options.owner} is not an active user of the workspace`,
      );
    await recordAudit(tx, commandLine(workspaceId), {
      action: "import_started",
      details: { source: source.kind, origin: source.origin, dry_run: options.dryRun ?? false },
    });
    return insertRun(tx, {
      workspaceId,
      createdBy: owner.id,
      source: source.kind,
      origin: source.origin,
      token: null,
      isDryRun: options.dryRun ?? false,
    });
  });
}

async function findCounts(db: Database, runId: string): Promise<Record<string, number>> {
  const row = await db.kysely
    .selectFrom("import_runs")
    .select("counts")
    .where("id", "=", runId)
    .executeTakeFirstOrThrow();
  return row.counts;
}

function printReport(rows: readonly ReportRow[]): void {
  for (const { old_id, state, reason, omitted } of rows) {
    process.stdout.write(
      `${old_id}\t${state === "failed" ? `not imported: ${reason}` : `without ${listOmitted(omitted)}`}\n`,
    );
  }
}

function describeResult(
  counts: Readonly<Record<string, number>>,
  { done, failed, omitted }: RunResult,
  isDryRun: boolean,
): string {
  const { recordings = 0, existing = 0, video = 0, audio = 0, transcript = 0 } = counts;
  const found = `${counted(recordings, "recording")} (${video} video, ${audio} audio, ${transcript} transcript)`;
  const users =
    counts.users_matched === undefined && counts.users_unknown === undefined
      ? ""
      : `; ${counts.users_matched ?? 0} of ${(counts.users_matched ?? 0) + (counts.users_unknown ?? 0)} users have an account here`;
  const left = listOmitted(omitted);
  const without = left === "" ? "" : `; left out: ${left}`;
  if (isDryRun)
    return `found ${found}, ${existing} of them imported already, ${failed} can't be imported${without}${users}`;
  return `found ${found}: ${done} imported, ${existing} were imported before, ${failed} not imported${without}${users}`;
}
