import type { z } from "zod";
import { isUnencrypted } from "../../../../contract/accounts/redirect-target.ts";
import { because } from "../../../../contract/causes/causes.ts";
import * as contract from "../../../../contract/uploads/import-runs.ts";
import { actorOf, recordAudit } from "../../../platform/audit/record.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database } from "../../../platform/db/database.ts";
import { invalidInput, ProblemError } from "../../../platform/http/errors/problem.ts";
import { type Api, route } from "../../../platform/http/routing/route.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { checkHookUrl } from "../../../platform/outbound/target.ts";
import { normalBaseUrl } from "../sources/base-url.ts";
import {
  endRun,
  findReport,
  findResult,
  findRuns,
  type ImportRunRow,
  insertRun,
  lockRun,
  omittedPrefix,
} from "./queries.ts";

const maxReported = 1000;

/** Imports from other services, for admins. */
export function importRunRoutes(
  api: Api,
  deps: { readonly db: Database; readonly jobs: JobQueue; readonly encryptor: Encryptor },
): void {
  const { db, jobs, encryptor } = deps;

  const present = async (row: ImportRunRow): Promise<z.input<typeof contract.ImportRun>> => {
    const { done, failed, pending, omitted } = await findResult(db.kysely, row.id);
    return {
      id: row.id,
      source: row.source,
      origin: row.origin,
      is_dry_run: row.is_dry_run,
      state: row.state,
      counts: Object.fromEntries(
        Object.entries(row.counts).filter(([code]) => !code.startsWith(omittedPrefix)),
      ),
      imported: done,
      failed,
      pending,
      omitted,
      error: row.error,
      created_datetime: row.created_at.toISOString(),
      finished_datetime: row.finished_at?.toISOString() ?? null,
    };
  };

  route(api, contract.createImportRun, async ({ principal, body, request }) => {
    const problem = checkHookUrl(body.base_url, { httpsOnly: false });
    if (problem !== null) throw invalidInput([{ pointer: "/base_url", detail: problem }]);
    if (isUnencrypted(body.base_url) && body.allow_http !== true)
      throw invalidInput([
        {
          pointer: "/base_url",
          detail: "must be an https URL, unless allow_http is set: the token would be sent unencrypted",
        },
      ]);
    const origin = normalBaseUrl(body.base_url);
    const row = await db.kysely.transaction().execute(async (tx) => {
      // Two runs at a time would wait for each other.
      await tx
        .selectFrom("workspaces")
        .select("id")
        .where("id", "=", principal.workspaceId)
        .forUpdate()
        .execute();
      const running = (await findRuns(tx, principal.workspaceId)).find(
        (run) => run.token !== null && ["pending", "running"].includes(run.state),
      );
      if (running !== undefined) throw new ProblemError("wrong_state", because("import_running"));
      const created = await insertRun(tx, {
        workspaceId: principal.workspaceId,
        createdBy: principal.userId,
        source: "grain",
        origin,
        token: encryptor.encrypt(body.token),
        isDryRun: body.dry_run ?? false,
      });
      await recordAudit(tx, actorOf(request), {
        action: "import_started",
        subject: { type: "import_run", id: created.id },
        details: { source: "grain", origin, dry_run: created.is_dry_run },
      });
      await jobs.enqueue(tx, "import_recordings", { runId: created.id }, created.id);
      return created;
    });
    jobs.wake();
    return present(row);
  });

  route(api, contract.listImportRuns, async ({ principal }) => ({
    runs: await Promise.all((await findRuns(db.kysely, principal.workspaceId)).map(present)),
  }));

  route(api, contract.getImportReport, async ({ principal, params }) => {
    const row = await db.kysely
      .transaction()
      .execute((tx) => lockRun(tx, principal.workspaceId, params.run_id));
    if (row === undefined) throw runNotFound(params.run_id);
    return { items: await findReport(db.kysely, row.id, maxReported) };
  });

  route(api, contract.cancelImportRun, async ({ principal, params, request }) => {
    await db.kysely.transaction().execute(async (tx) => {
      const row = await lockRun(tx, principal.workspaceId, params.run_id);
      if (row === undefined) throw runNotFound(params.run_id);
      if (!(await endRun(tx, row.id, "canceled"))) return;
      await recordAudit(tx, actorOf(request), {
        action: "import_canceled",
        subject: { type: "import_run", id: row.id },
        details: { source: row.source, origin: row.origin },
      });
    });
    return { success: true as const };
  });
}

function runNotFound(id: string): ProblemError {
  return new ProblemError(
    "not_found",
    `there is no import run ${id} in this workspace; see List Import Runs`,
  );
}
