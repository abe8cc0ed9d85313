import * as contract from "../../../contract/transcripts/speech-models.ts";
import type { AuditAction } from "../../platform/audit/actions.ts";
import { type AuditedRequest, actorOf, recordAudit } from "../../platform/audit/record.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import { type Api, route } from "../../platform/http/routing/route.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import {
  listLanguageModels,
  listSpeechModels,
  removeInstalledModel,
  requestFileInstall,
  requestModelInstall,
} from "../../processing/models/index.ts";
import { refuseOtherWorkspaces } from "./operator.ts";

/** The models of the built-in engines, for admins of the operator's workspace. */
export function modelRoutes(
  api: Api,
  deps: { readonly db: Database; readonly jobs: JobQueue; readonly config: Config },
): void {
  const { db } = deps;

  route(api, contract.listSpeechModels, async ({ principal }) => {
    await refuseOtherWorkspaces(db, principal);
    return listSpeechModels(deps);
  });

  route(api, contract.installSpeechModel, async ({ principal, params, request }) => {
    await refuseOtherWorkspaces(db, principal);
    await requestModelInstall(deps, "speech", params.name, audited(request, "speech_model_requested"));
    return { success: true as const };
  });

  route(api, contract.removeSpeechModel, async ({ principal, params, request }) => {
    await refuseOtherWorkspaces(db, principal);
    await removeInstalledModel(deps, "speech", params.name, audited(request, "speech_model_removed"));
    return { success: true as const };
  });

  route(api, contract.listLanguageModels, async ({ principal }) => {
    await refuseOtherWorkspaces(db, principal);
    return listLanguageModels(deps);
  });

  route(api, contract.installLanguageModel, async ({ principal, params, request }) => {
    await refuseOtherWorkspaces(db, principal);
    const audit = audited(request, "language_model_requested");
    await requestModelInstall(deps, "language", params.name, audit);
    return { success: true as const };
  });

  route(api, contract.installLanguageModelFile, async ({ principal, body, request }) => {
    await refuseOtherWorkspaces(db, principal);
    await requestFileInstall(deps, body, (tx, name) =>
      recordAudit(tx, actorOf(request), {
        action: "language_model_requested",
        details: { name, path: body.path },
      }),
    );
    return { success: true as const };
  });

  route(api, contract.removeLanguageModel, async ({ principal, params, request }) => {
    await refuseOtherWorkspaces(db, principal);
    await removeInstalledModel(deps, "language", params.name, audited(request, "language_model_removed"));
    return { success: true as const };
  });
}

function audited(request: AuditedRequest, action: AuditAction) {
  return (tx: Tx, name: string): Promise<void> =>
    recordAudit(tx, actorOf(request), { action, details: { name } });
}
