import type { System } from "../../../../contract/system.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Database } from "../../../platform/db/database.ts";
import type { ObjectStore } from "../../../platform/storage/store.ts";
import { findLanguageModelName, isRecognition, listInstalled } from "../../../processing/models/index.ts";
import type { BackupState } from "../../backup/schedule.ts";
import { kindsOf, readStores } from "../../move/stores.ts";
import { type FailureSummary, noFailures } from "../jobs/queries.ts";
import type { ProcessRow } from "../processes.ts";
import { type Finding, failing, off, ok, reasonOf } from "./finding.ts";
import { languageModelOff, mailOff, placeOf, speechOff, storageFailing } from "./test-component.ts";
import { within } from "./within.ts";

type Component = (typeof System)["_output"]["components"][number]["component"];

/** How long the store may take: it is asked each time the page is shown. */
const storageMs = 5000;

export type ComponentHealth = Finding & { readonly component: Component };

interface Dependencies {
  readonly db: Pick<Database, "pool">;
  readonly store: ObjectStore;
  readonly config: Config;
}

interface Known {
  readonly failures: ReadonlyMap<string, FailureSummary>;
  readonly processes: readonly ProcessRow[];
  readonly backups: BackupState;
}

/**
 * The health of each component by what is known without trying it: the store is asked, the others are known by their
 * failed jobs and by the rows of processes and backups. The database has just responded.
 */
export async function readHealth(deps: Dependencies, known: Known): Promise<ComponentHealth[]> {
  const { db, config } = deps;
  const failuresOf = (kind: string) => known.failures.get(kind) ?? noFailures;
  const [database, storage] = await Promise.all([databaseHealth(db), storageHealth(deps)]);
  const found: Record<Component, Finding> = {
    database,
    storage,
    worker: workerHealth(known.processes),
    backups: backupHealth(config, known.backups),
    mail:
      config.smtp === null
        ? mailOff()
        : mailHealth(new URL(config.smtp.url).host, [
            failuresOf("send_mail"),
            failuresOf("email_notifications"),
          ]),
    speech: await speechHealth(config, failuresOf("transcribe_recording")),
    language_model: await languageModelHealth(config, failuresOf("analyze_recording")),
  };
  return Object.entries(found).map(([component, finding]) => ({
    component: component as Component,
    ...finding,
  }));
}

async function databaseHealth({ pool }: Pick<Database, "pool">): Promise<Finding> {
  const startedAt = performance.now();
  const { rows } = await pool.query<{ version: string }>(
    "select current_setting('server_version') as version",
  );
  return ok(
    `PostgreSQL ${rows[0]?.version ?? ""} responds in ${Math.ceil(performance.now() - startedAt)} ms.`,
  );
}

async function storageHealth({ db, store, config }: Dependencies): Promise<Finding> {
  const inUse = await readStores(db.pool, config);
  const { first, migration } = inUse;
  try {
    await within(storageMs, `there was no response within ${storageMs / 1000} s`, () => store.check());
    if (migration === null) return ok(`Files are stored in ${placeOf(first, config)}, which responds.`);
    const places = kindsOf(inUse).map((kind) => placeOf(kind, config));
    return ok(
      `Files are stored in ${places.join(" and ")}, which respond, because their migration is not finished; \`parley storage migrate --to ${migration.target} --remove-source\` finishes it.`,
    );
  } catch (error) {
    return storageFailing(reasonOf(error), first);
  }
}

function workerHealth(processes: readonly ProcessRow[]): Finding {
  const workers = processes.filter((process) => process.is_responding && process.role !== "api");
  if (workers.length > 0)
    return ok(
      `${workers.length === 1 ? "One worker runs" : `${workers.length} workers run`} background jobs.`,
    );
  return failing(
    "no worker is running, so uploads are not processed, and no webhooks and emails are sent",
    "Start a process with `parley serve` and PARLEY_ROLE=worker (or all). If one is running, read its log.",
  );
}

function backupHealth({ backup }: Config, state: BackupState): Finding {
  const last =
    state.lastSucceeded === null
      ? "There is no backup yet"
      : `The last backup is from ${utc(state.lastSucceeded)}${describeMissing(state)}`;
  if (backup.destination === null) {
    const advice = "Set PARLEY_BACKUP_TO in Settings → Server settings to back up every day.";
    return off(`No backups are scheduled. ${last}. ${advice}`);
  }
  const remedy =
    "Read the error and the log of the workers, check that PARLEY_BACKUP_TO is reachable and has free space, and run `parley backup`.";
  if (state.lastError !== null) return failing(`The last backup run failed: ${state.lastError}`, remedy);
  if (state.isOverdue) return failing(`${last}: none has succeeded for two days`, remedy);
  if (state.missingFiles > 0)
    return failing(
      last,
      "Run `parley files verify` and restore these files from an earlier backup or copy, or delete their recordings permanently. Then run `parley backup`.",
    );
  return ok(`${last}.`);
}

function describeMissing({ missingFiles, firstMissing }: BackupState): string {
  if (missingFiles === 0) return "";
  const named = firstMissing.slice(0, maxNamed);
  const more = missingFiles > named.length ? [`and ${missingFiles - named.length} more`] : [];
  return ` and lacks ${counted(missingFiles, "file")} that the file store did not have as written: ${[...named, ...more].join(", ")}`;
}

/** Missing files that the state of backups names. */
const maxNamed = 5;

function utc(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

function mailHealth(host: string, failures: readonly FailureSummary[]): Finding {
  const waiting = failures.reduce((sum, one) => sum + one.waiting, 0);
  const error = failures.find(({ waiting_error }) => waiting_error !== null)?.waiting_error;
  if (waiting === 0) return ok(`Emails are sent through ${host}. None is waiting after a failure.`);
  return failing(
    `${counted(waiting, "email")} could not be sent yet. The last error: ${error}`,
    "Test the mail server. Emails are retried until their links expire.",
  );
}

async function speechHealth(config: Config, failed: FailureSummary): Promise<Finding> {
  const { transcription, dataDir } = config;
  if (transcription === null) return speechOff();
  if (transcription.engine === "server") return modelHealth("speech", atHost(transcription), failed);
  const names = (await listInstalled(dataDir)).filter(isRecognition).map(({ name }) => name);
  if (names.length > 0) return modelHealth("speech", `${names.join(", ")} of the built-in engine`, failed);
  if (!transcription.isRequired) return speechOff();
  return modelHealth("speech", "of the built-in engine on the workers", failed);
}

async function languageModelHealth(config: Config, failed: FailureSummary): Promise<Finding> {
  const { languageModel } = config;
  const name = await findLanguageModelName(config);
  if (languageModel === null || name === null) return languageModelOff();
  const model = languageModel.engine === "server" ? atHost(languageModel) : `${name}, which is built in,`;
  return modelHealth("language", model, failed);
}

function atHost({ url, model }: { readonly url: string; readonly model: string }): string {
  return `${model} at ${new URL(url).host}`;
}

/** @param model such as "whisper-1 at speech.example.com". */
function modelHealth(name: "speech" | "language", model: string, failures: FailureSummary): Finding {
  const { waiting, waiting_error, stopped, stopped_error } = failures;
  if (waiting + stopped === 0)
    return ok(`The model ${model} is set up. No recording is waiting after a failure.`);
  if (waiting === 0)
    return failing(
      `${counted(stopped, "recording")} could not be processed since the last success. The last error: ${stopped_error}`,
      `Test the ${name} model, and then retry the failed jobs.`,
    );
  return failing(
    `${counted(waiting, "recording")} could not be processed yet. The last error: ${waiting_error}`,
    `Test the ${name} model. The recordings are retried when it works.`,
  );
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
