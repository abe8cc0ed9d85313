import { randomUUIDv7 } from "node:crypto";
import type { z } from "zod";
import type { SpeechModels } from "../../../contract/transcripts/speech-models.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { hasSpeechModel } from "./availability.ts";
import { catalogue, findInCatalogue, type ModelKind, sizeOf } from "./catalogue.ts";
import { discardUnfinished } from "./install.ts";
import { deleteModelInstall, insertModelInstall, listModelInstalls, type ModelInstall } from "./queries.ts";
import { findInstalled, listInstalled, removeModel } from "./store.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly config: Pick<Config, "dataDir" | "transcription" | "role">;
}

type Output = z.input<typeof SpeechModels>;

/** Records the action in the transaction that performs it. */
type Audit = (tx: Tx, name: string) => Promise<void>;

/** The models that are installed on this machine or can be. */
export async function listSpeechModels({ db, config }: Dependencies): Promise<Output> {
  const [installed, installs] = await Promise.all([
    listInstalled(config.dataDir),
    listModelInstalls(db.kysely),
  ]);
  const names = new Set(installed.map(({ name }) => name));
  return {
    engine: config.transcription?.engine ?? "off",
    is_ready: await hasSpeechModel(config),
    models: [
      ...catalogue.map((model, index) => ({
        name: model.name,
        kind: outputKind(model.kind),
        is_custom: false,
        is_default: index === 0,
        description: model.description,
        languages: model.languages === null ? null : [...model.languages],
        bytes: sizeOf(model),
        license: model.license,
        attribution: model.attribution,
        source: model.source,
        ...stateOf(
          names.has(model.name) || (config.role === "api" && isDone(installs, model.name)),
          installs.find(({ name }) => name === model.name),
        ),
      })),
      ...installed
        .filter(({ custom }) => custom)
        .map((model) => ({
          name: model.name,
          kind: outputKind(model.kind),
          is_custom: true,
          is_default: false,
          description: "A custom model, installed from a folder.",
          languages: model.languages,
          bytes: sizeOf(model),
          license: null,
          attribution: null,
          source: null,
          ...stateOf(true, undefined),
        })),
    ],
  };
}

/** An API process may be on another machine than the workers, which install models on theirs. */
function isDone(installs: readonly ModelInstall[], name: string): boolean {
  return installs.some((install) => install.name === name && install.status === "done");
}

function outputKind(kind: ModelKind): "recognition" | "speakers" {
  return kind === "speakers" ? "speakers" : "recognition";
}

function stateOf(
  isInstalled: boolean,
  install: ModelInstall | undefined,
): Pick<Output["models"][number], "state" | "bytes_done" | "error"> {
  if (isInstalled) return { state: "installed", bytes_done: 0, error: null };
  if (install === undefined || install.status === "done")
    return { state: "available", bytes_done: 0, error: null };
  if (install.status === "failed") return { state: "failed", bytes_done: 0, error: install.error };
  return { state: "installing", bytes_done: install.bytes_done, error: null };
}

/** Starts the download of a model in the background. */
export async function requestModelInstall(
  { db, jobs, config }: Dependencies,
  name: string,
  audit: Audit,
): Promise<void> {
  if (findInCatalogue(name) === undefined) throw notFound(name);
  // A worker on another machine needs its own copy; where it has one, its job does nothing.
  if (config.role !== "api" && (await findInstalled(config.dataDir, name)) !== null)
    throw new ProblemError("wrong_state", `the model ${name} is installed already`);
  await db.kysely.transaction().execute(async (tx) => {
    const installId = randomUUIDv7();
    if (!(await insertModelInstall(tx, installId, name)))
      throw new ProblemError("wrong_state", `the model ${name} is being installed already`);
    await jobs.enqueue(tx, "install_model", { installId }, installId);
    await audit(tx, name);
  });
  jobs.wake();
}

/** Removes a model from this machine, or cancels its download. */
export async function removeSpeechModel(
  { db, config }: Dependencies,
  name: string,
  audit: Audit,
): Promise<void> {
  const isInstalled = (await listInstalled(config.dataDir)).some((model) => model.name === name);
  await db.kysely.transaction().execute(async (tx) => {
    const wasInstalling = await deleteModelInstall(tx, name);
    if (!isInstalled && !wasInstalling) throw notFound(name);
    await audit(tx, name);
  });
  if (isInstalled) await removeModel(config.dataDir, name);
  else await discardUnfinished(config.dataDir, name);
}

function notFound(name: string): ProblemError {
  return new ProblemError("not_found", `there is no model ${name}; see List Speech Models`);
}
