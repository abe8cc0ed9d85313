import * as contract from "../../../contract/recordings/intelligence.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { type Api, route } from "../../platform/http/routing/route.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { canSeeRecording } from "../../recordings/recordings/queries.ts";
import { recordingNotFound } from "../../recordings/recordings/rights.ts";
import { findLanguageModelName } from "../models/index.ts";
import { effectiveLimit, findSettings, nextDay } from "./budget.ts";
import { chapterRoutes } from "./chapters.ts";
import { actionItemListRoutes } from "./list-all.ts";
import { findModelState } from "./missing-model.ts";
import { describeRun, describeWorkspace } from "./present.ts";
import { findRun } from "./queries.ts";
import { countRuns, findItems, findUsageToday, saveSettings, wakeRuns } from "./read-queries.ts";
import * as service from "./service.ts";
import { templateRoutes } from "./templates/routes.ts";

/** The management API of the language model: settings of the workspace, runs and action items. */
export function intelligenceRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly config: Pick<Config, "languageModel" | "dataDir" | "baseUrl">;
  },
): void {
  const { db, jobs, config } = deps;
  templateRoutes(api, { db });
  chapterRoutes(api, { db });
  actionItemListRoutes(api, { db, config });

  const readWorkspace = async ({ workspaceId }: Principal) => {
    const settings = await findSettings(db.kysely, workspaceId);
    const serverLimit = config.languageModel?.maxTokensPerDay ?? null;
    const usage = await findUsageToday(db.kysely, workspaceId);
    return describeWorkspace({
      state: await findModelState(db.kysely, config, workspaceId),
      model: await findLanguageModelName(config),
      settings,
      serverLimit,
      limit: effectiveLimit(settings.max_tokens_per_day, serverLimit),
      usage,
      runs: await countRuns(db.kysely, workspaceId),
      resetsAt: nextDay(new Date()),
    });
  };
  const refuseUnseen = async (principal: Principal, recordingId: string): Promise<void> => {
    if (!(await canSeeRecording(db.pool, principal, recordingId))) throw recordingNotFound(recordingId);
  };
  const readRun = async ({ userId, workspaceId }: Principal, recordingId: string) =>
    describeRun(
      await findRun(db.kysely, recordingId, userId),
      await findModelState(db.kysely, config, workspaceId),
    );

  route(api, contract.getIntelligence, ({ principal }) => readWorkspace(principal));

  route(api, contract.updateIntelligence, async ({ principal, body }) => {
    const { workspaceId } = principal;
    await db.kysely.transaction().execute(async (tx) => {
      await saveSettings(tx, workspaceId, {
        enabled: body.enabled,
        max_tokens_per_day: body.max_tokens_per_day === 0 ? null : body.max_tokens_per_day,
        question_days: body.question_days,
        language: body.language,
      });
      for (const recordingId of await wakeRuns(tx, workspaceId))
        await jobs.enqueue(tx, "analyze_recording", { recordingId }, recordingId);
    });
    jobs.wake();
    return readWorkspace(principal);
  });

  route(api, contract.getRecordingIntelligence, async ({ principal, params }) => {
    await refuseUnseen(principal, params.recording_id);
    return readRun(principal, params.recording_id);
  });

  route(api, contract.runRecordingIntelligence, async ({ principal, params, body }) => {
    await service.runAgain({ db, jobs, config }, principal, params.recording_id, body);
    return readRun(principal, params.recording_id);
  });

  route(api, contract.listActionItems, async ({ principal, params }) => {
    await refuseUnseen(principal, params.recording_id);
    return { action_items: await findItems(db.kysely, params.recording_id) };
  });

  route(api, contract.updateActionItem, async ({ principal, params, body }) => {
    const { recording_id: recordingId, item_id: itemId } = params;
    const { assignee_id: assignee, ...changes } = body;
    await service.updateActionItem(db, principal, recordingId, itemId, {
      ...changes,
      assignee_id: assignee === "" ? null : assignee,
    });
    const item = (await findItems(db.kysely, recordingId)).find((one) => one.id === itemId);
    // Another run may have removed it right after the change.
    if (item === undefined) throw new ProblemError("not_found", `the recording has no action item ${itemId}`);
    return item;
  });
}
