import type { z } from "zod";
import * as contract from "../../../contract/system.ts";
import { type AuditActor, type AuditedRequest, actorOf, serverItself } from "../../platform/audit/record.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import { type Api, route } from "../../platform/http/routing/route.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { i18nOf, languageOf } from "../../platform/language/request-language.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";
import { readStores } from "../move/stores.ts";
import { dismissChecklist } from "./checklist.ts";
import type { Finding } from "./health/finding.ts";
import {
  type MailReceiver,
  testDatabase,
  testLanguageModel,
  testMail,
  testSpeech,
  testStorage,
} from "./health/test-component.ts";
import { discardJob, retryJob } from "./jobs/repair.ts";
import { refuseOtherWorkspaces } from "./operator.ts";
import { readSystem } from "./overview.ts";
import { createStorageUse } from "./storage-use.ts";
import { retryWatchedFiles } from "./watched-files.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly config: Config;
}

type TestResult = z.input<(typeof contract.testComponent)["response"]>;
type Testable = TestResult["component"];

/** The state of the installation, for admins of the operator's workspace. */
export function systemRoutes(api: Api, deps: Dependencies): void {
  const { db, config } = deps;
  const readStorageUse = createStorageUse(db, config.dataDir);
  const test = createTests(deps);

  route(api, contract.getSystem, async ({ principal, request }) => {
    await refuseOtherWorkspaces(db, principal);
    return readSystem(deps, await i18nOf(request, principal.language ?? null));
  });

  route(api, contract.dismissChecklist, async ({ principal }) => {
    await refuseOtherWorkspaces(db, principal);
    await dismissChecklist(db);
    return { success: true as const };
  });

  route(api, contract.getStorageUse, async ({ principal }) => {
    await refuseOtherWorkspaces(db, principal);
    return readStorageUse();
  });

  route(api, contract.testComponent, async ({ principal, params, request }) => {
    await refuseOtherWorkspaces(db, principal);
    const { emailKey: email, language = null } = principal;
    return test(params.component, { email, language: languageOf(request, language) });
  });

  route(api, contract.retryJob, async ({ principal, params, request }) => {
    await refuseOtherWorkspaces(db, principal);
    await retryJob(deps, params.job_id, actorsOf(request));
    return { success: true as const };
  });

  route(api, contract.retryWatchedFiles, async ({ principal, body, request }) => {
    await refuseOtherWorkspaces(db, principal);
    const files = { folder: body.folder, id: body.id ?? null };
    return { retried: await retryWatchedFiles(deps, files, actorsOf(request)) };
  });

  route(api, contract.discardJob, async ({ principal, params, request }) => {
    await refuseOtherWorkspaces(db, principal);
    await discardJob(deps, params.job_id, actorsOf(request));
    return { success: true as const };
  });
}

/** The admin, and in the audit log of another workspace, whose job it is, the server. */
function actorsOf(request: AuditedRequest) {
  return (workspaceId: string | null): AuditActor[] => {
    const admin = actorOf(request);
    const isOther = workspaceId !== null && workspaceId !== admin.workspaceId;
    return isOther ? [admin, serverItself(workspaceId)] : [admin];
  };
}

/** Runs each test once at a time: requests during a test share its result, so that they can't flood a server. */
function createTests({ db, store, config }: Dependencies) {
  const running = new Map<string, Promise<TestResult>>();
  const tests: Record<Testable, (admin: MailReceiver) => Promise<Finding>> = {
    database: () => testDatabase(db),
    storage: async () => testStorage(store, config, (await readStores(db.pool, config)).first),
    mail: (admin) => testMail(config, admin),
    speech: () => testSpeech(config.transcription, { dataDir: config.dataDir, session: db.session }),
    language_model: () => testLanguageModel({ config, db }),
  };

  async function run(component: Testable, admin: MailReceiver): Promise<TestResult> {
    const startedAt = performance.now();
    const finding = await tests[component](admin);
    return { component, ...finding, duration_ms: Math.round(performance.now() - startedAt) };
  }

  return (component: Testable, admin: MailReceiver): Promise<TestResult> => {
    const key = component === "mail" ? `mail ${admin.email}` : component;
    const result = running.get(key) ?? run(component, admin).finally(() => running.delete(key));
    running.set(key, result);
    return result;
  };
}
