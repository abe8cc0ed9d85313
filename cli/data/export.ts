import { resolve } from "node:path";
import type { Command } from "commander";
import { ExportError } from "../../server/connections/exports/errors.ts";
import { verifyExport } from "../../server/connections/exports/verify.ts";
import { exportWorkspace } from "../../server/connections/exports/write.ts";
import { chooseWorkspace } from "../../server/people/accounts/service.ts";
import { commandLine, recordAudit } from "../../server/platform/audit/record.ts";
import { counted } from "../../shared/counted.ts";
import { describeBytes } from "../support/describe-bytes.ts";
import { type ProgressReport, reportProgress } from "../support/report-progress.ts";
import { withStore } from "../support/with-store.ts";

interface Options {
  workspace?: string;
  vcon?: boolean;
  verify?: boolean;
  json?: boolean;
}

/** `parley export DIR`. */
export function exportCommand(command: Command): Command {
  return command
    .argument("<folder>", "an empty folder, or an earlier export of the same workspace")
    .option("--workspace <id>", "workspace ID; required if there are several workspaces")
    .option("--vcon", "also write each recording as a vCon")
    .option("--verify", "read every file of an existing export and compare it with its checksum")
    .option("--json", "print progress and result as lines of JSON")
    .action(async (folder: string, options: Options) => {
      const report = reportProgress(options);
      try {
        await (options.verify ? verify : write)(resolve(folder), options, report);
      } finally {
        report.done();
      }
    });
}

async function write(folder: string, options: Options, report: ProgressReport): Promise<void> {
  const result = await withStore(async (db, store, config) => {
    const workspaceId = await db.kysely.transaction().execute(async (tx) => {
      const id = await chooseWorkspace(tx, options.workspace);
      await recordAudit(tx, commandLine(id), { action: "workspace_exported" });
      return id;
    });
    const { name } = await db.kysely
      .selectFrom("workspaces")
      .select("name")
      .where("id", "=", workspaceId)
      .executeTakeFirstOrThrow();
    return exportWorkspace({ db, store, baseUrl: config.baseUrl }, folder, {
      workspace: { id: workspaceId, name },
      vcon: options.vcon ?? false,
      onProgress: report.update,
    });
  });
  report.done();
  if (options.json) process.stdout.write(`${JSON.stringify({ phase: "done", ...result })}\n`);
  else for (const problem of result.problems) process.stdout.write(`${problem}\n`);
  const { recordings, unchanged, bytes, problems } = result;
  console.error(
    `${folder} has ${counted(recordings, "recording")}: ${recordings - unchanged} written (${describeBytes(bytes)}), ${unchanged} unchanged`,
  );
  if (problems.length > 0)
    throw new ExportError(
      `${counted(problems.length, "recording")} could not be exported; run parley files verify`,
    );
}

async function verify(folder: string, options: Options, report: ProgressReport): Promise<void> {
  const result = await verifyExport(folder, report.update);
  report.done();
  if (options.json) process.stdout.write(`${JSON.stringify({ phase: "done", ...result })}\n`);
  else for (const problem of result.problems) process.stdout.write(`${problem}\n`);
  const { recordings, files, bytes, problems } = result;
  if (problems.length > 0)
    throw new ExportError(
      `missing or damaged in ${folder}: ${counted(problems.length, "file")}; export again`,
    );
  console.error(
    `complete and intact: ${counted(recordings, "recording")} with ${counted(files, "file")} (${describeBytes(bytes)})`,
  );
}
