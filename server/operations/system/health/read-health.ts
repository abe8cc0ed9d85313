import { sentenceOf, sentences } from "../../../../contract/sentences.ts";
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
import {
  languageModelOff,
  mailOff,
  nameOfPlace,
  placeOf,
  speechOff,
  storageFailing,
} from "./test-component.ts";
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
            failuresOf("send_delivery_email"),
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
    sentenceOf("database_responds", {
      version: rows[0]?.version ?? "",
      ms: Math.ceil(performance.now() - startedAt),
    }),
  );
}

async function storageHealth({ db, store, config }: Dependencies): Promise<Finding> {
  const inUse = await readStores(db.pool, config);
  const { first, migration } = inUse;
  try {
    await within(storageMs, sentenceOf("check_no_response", { seconds: storageMs / 1000 }), () =>
      store.check(),
    );
    const name = nameOfPlace(first, config);
    if (migration === null)
      return ok(
        first === "local" || config.s3 === null
          ? sentenceOf("folder_responds", { folder: name })
          : sentenceOf("bucket_responds", { bucket: name }),
      );
    const places = kindsOf(inUse).map((kind) => placeOf(kind, config));
    return ok(sentenceOf("storage_migrating", { places: places.join(" and "), target: migration.target }));
  } catch (error) {
    return storageFailing(reasonOf(error), first);
  }
}

function workerHealth(processes: readonly ProcessRow[]): Finding {
  const workers = processes.filter((process) => process.is_responding && process.role !== "api");
  if (workers.length > 0)
    return ok(workers.length === 1 ? sentences.one_worker : sentenceOf("workers", { count: workers.length }));
  return failing(sentences.no_worker, sentences.no_worker_remedy);
}

function backupHealth({ backup }: Config, state: BackupState): Finding {
  const time = state.lastSucceeded === null ? null : utc(state.lastSucceeded);
  const last =
    time === null
      ? sentences.backups_none_yet
      : state.missingFiles === 0
        ? sentenceOf("backups_ok", { time })
        : describeMissing(time, state);
  if (backup.destination === null)
    return off(`${sentences.backups_off} ${last} ${sentences.backups_off_remedy}`);
  const remedy = sentences.backups_remedy;
  if (state.lastError !== null)
    return failing(sentenceOf("backups_failed", { reason: state.lastError }), remedy);
  if (state.isOverdue)
    return failing(time === null ? sentences.backups_never : sentenceOf("backups_overdue", { time }), remedy);
  if (state.missingFiles > 0) return failing(last, sentences.backups_missing_remedy);
  return ok(last);
}

function describeMissing(time: string, { missingFiles: count, firstMissing }: BackupState): string {
  const named = firstMissing.slice(0, maxNamed);
  const more = count > named.length ? [`and ${count - named.length} more`] : [];
  const files = [...named, ...more].join(", ");
  return count === 1
    ? sentenceOf("backups_lack_one", { time, files })
    : sentenceOf("backups_lack", { time, count, files });
}

/** Missing files that the state of backups names. */
const maxNamed = 5;

function utc(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace("T", " ")}`;
}

function mailHealth(host: string, failures: readonly FailureSummary[]): Finding {
  const waiting = failures.reduce((sum, one) => sum + one.waiting, 0);
  const error = failures.find(({ waiting_error }) => waiting_error !== null)?.waiting_error;
  if (waiting === 0) return ok(sentenceOf("mail_ok", { host }));
  return failing(counted("mail_waiting", waiting, error), sentences.mail_waiting_remedy);
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
  if (languageModel === null || name === null) return languageModelOff(config);
  const model = languageModel.engine === "server" ? atHost(languageModel) : `${name}, which is built in,`;
  return modelHealth("language", model, failed);
}

function atHost({ url, model }: { readonly url: string; readonly model: string }): string {
  return `${model} at ${new URL(url).host}`;
}

/** @param model such as "whisper-1 at speech.example.com". */
function modelHealth(name: "speech" | "language", model: string, failures: FailureSummary): Finding {
  const { waiting, waiting_error, stopped, stopped_error } = failures;
  if (waiting + stopped === 0) return ok(sentenceOf("model_ok", { model }));
  if (waiting === 0)
    return failing(counted("jobs_stopped", stopped, stopped_error), sentences[`${name}_retry_remedy`]);
  return failing(counted("jobs_waiting", waiting, waiting_error), sentences[`${name}_wait_remedy`]);
}

function counted(
  code: "mail_waiting" | "jobs_stopped" | "jobs_waiting",
  count: number,
  error: string | null | undefined,
): string {
  const reason = error ?? "";
  return count === 1 ? sentenceOf(`${code}_one`, { reason }) : sentenceOf(code, { count, reason });
}
