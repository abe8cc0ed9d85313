import { randomUUIDv7 } from "node:crypto";
import type { z } from "zod";
import { because } from "../../../contract/causes/causes.ts";
import { ruleTexts } from "../../../contract/causes/rules.ts";
import type { LanguageModels, SpeechModels } from "../../../contract/transcripts/speech-models.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import { invalidInput, ProblemError } from "../../platform/http/errors/problem.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { hasLanguageModel, hasSpeechModel } from "./availability.ts";
import {
  catalogue,
  findInCatalogue,
  isLanguage,
  languageWorkMb,
  type ModelKind,
  sizeOf,
} from "./catalogue.ts";
import { discardUnfinished, nameOfPath } from "./install.ts";
import { deleteModelInstall, insertModelInstall, listModelInstalls, type ModelInstall } from "./queries.ts";
import { findInstalled, listInstalled, modelName, removeModel } from "./store.ts";
import { findMinutesPerHour } from "./trial.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly config: Pick<Config, "dataDir" | "transcription" | "languageModel" | "role">;
}

type SpeechOutput = z.input<typeof SpeechModels>;
type LanguageOutput = z.input<typeof LanguageModels>;

/** Records the action in the transaction that performs it. */
type Audit = (tx: Tx, name: string) => Promise<void>;

/** The speech models that are installed on this machine or can be. */
export async function listSpeechModels(deps: Dependencies): Promise<SpeechOutput> {
  const models = await listModels(deps, (model) => !isLanguage(model));
  return {
    engine: deps.config.transcription?.engine ?? "off",
    is_ready: await hasSpeechModel(deps.config),
    models: models.map(({ model, path: _path, ...rest }) => ({
      ...rest,
      kind: model.kind === "speakers" ? ("speakers" as const) : ("recognition" as const),
      languages: model.languages === null ? null : [...model.languages],
    })),
  };
}

/** The language models that are installed on this machine or can be. */
export async function listLanguageModels(deps: Dependencies): Promise<LanguageOutput> {
  const models = await listModels(deps, isLanguage);
  return {
    engine: deps.config.languageModel?.engine ?? "off",
    is_ready: await hasLanguageModel(deps.config),
    models: await Promise.all(
      models.map(async ({ model, ...rest }) => ({
        ...rest,
        memory_bytes: rest.bytes + languageWorkMb * 2 ** 20,
        minutes_per_hour: "folder" in model ? await findMinutesPerHour(model) : null,
      })),
    ),
  };
}

/** The models of a kind: those of the catalogue, then custom ones, then custom ones that are not installed. */
async function listModels(
  { db, config }: Dependencies,
  isWanted: (model: { readonly kind: ModelKind }) => boolean,
) {
  const [installed, installs] = await Promise.all([
    listInstalled(config.dataDir),
    listModelInstalls(db.kysely),
  ]);
  const installOf = (name: string): ModelInstall | undefined =>
    installs.find((install) => install.name === name);
  // An API process may be on another machine than the workers, which install models on theirs.
  const isDone = (name: string): boolean => config.role === "api" && installOf(name)?.status === "done";
  return [
    ...catalogue.filter(isWanted).map((known) => {
      const found = installed.find(({ name }) => name === known.name);
      return {
        model: found ?? known,
        name: known.name,
        is_custom: false,
        is_default: known.isDefault,
        description: known.description,
        bytes: sizeOf(known),
        license: known.license,
        attribution: known.attribution,
        source: known.source,
        ...stateOf(found !== undefined || isDone(known.name), installOf(known.name)),
      };
    }),
    ...installed
      .filter((model) => model.custom && isWanted(model))
      .map((model) => ({
        model,
        name: model.name,
        ...customFacts,
        bytes: sizeOf(model),
        ...stateOf(true, undefined),
      })),
    ...installs.flatMap((install) => {
      const { name, bytes_total: bytes } = install;
      const isShown =
        isUnlisted(install) && isWanted(ofPath) && !installed.some((model) => model.name === name);
      return isShown && (isDone(name) || install.status !== "done")
        ? [{ model: ofPath, name, ...customFacts, bytes: bytes ?? 0, ...stateOf(isDone(name), install) }]
        : [];
    }),
  ];
}

const customFacts = {
  is_custom: true,
  is_default: false,
  description: "A custom model from a folder or file.",
  license: null,
  attribution: null,
  source: null,
} as const;

/** What a file by path is: only language models have a single one. */
const ofPath = { kind: "language", languages: null } as const;

/** Whether an installation is of a file that is not in the catalogue. */
const isUnlisted = ({ name, path }: ModelInstall): boolean =>
  path !== null && findInCatalogue(name) === undefined;

function stateOf(
  isInstalled: boolean,
  install: ModelInstall | undefined,
): Pick<SpeechOutput["models"][number], "state" | "bytes_done" | "error"> & { readonly path: string | null } {
  const none = { bytes_done: 0, error: null, path: null };
  if (isInstalled) return { ...none, state: "installed" };
  if (install === undefined || install.status === "done") return { ...none, state: "available" };
  const { path, bytes_done, error } = install;
  return install.status === "failed"
    ? { ...none, state: "failed", path, error }
    : { ...none, state: "installing", path, bytes_done };
}

/** Starts the download of a model in the background. */
export async function requestModelInstall(
  deps: Dependencies,
  family: ModelFamily,
  name: string,
  audit: Audit,
): Promise<void> {
  const known = findInCatalogue(name);
  if (known === undefined || familyOf(known) !== family) throw notFound(family, name);
  await request(deps, { name, path: null }, audit);
}

/**
 * Starts the installation of a language model from a file of the server's machine in the background. A name of the
 * catalogue is for a file with the catalogue's hash.
 * @param givenName undefined: that of the file.
 */
export async function requestFileInstall(
  deps: Dependencies,
  { path, name: givenName }: { readonly path: string; readonly name?: string | undefined },
  audit: Audit,
): Promise<void> {
  const name = givenName ?? nameOfPath(path);
  if (!modelName.test(name)) throw invalidInput([{ pointer: "/name", detail: ruleTexts.not_model_name }]);
  const known = findInCatalogue(name);
  if (known !== undefined && !isLanguage(known)) throw notFound("language", name);
  await request(deps, { name, path }, audit);
}

async function request(
  { db, jobs, config }: Dependencies,
  wanted: { readonly name: string; readonly path: string | null },
  audit: Audit,
): Promise<void> {
  const { name } = wanted;
  // A worker on another machine needs its own copy; where it has one, its job does nothing.
  if (config.role !== "api" && (await findInstalled(config.dataDir, name)) !== null)
    throw new ProblemError("wrong_state", because("model_installed", { name }));
  await db.kysely.transaction().execute(async (tx) => {
    const installId = randomUUIDv7();
    if (!(await insertModelInstall(tx, installId, wanted)))
      throw new ProblemError("wrong_state", because("model_installing", { name }));
    await jobs.enqueue(tx, "install_model", { installId }, installId);
    await audit(tx, name);
  });
  jobs.wake();
}

/** Removes a model from this machine, or cancels its installation. */
export async function removeInstalledModel(
  { db, config }: Dependencies,
  family: ModelFamily,
  name: string,
  audit: Audit,
): Promise<void> {
  const found = (await listInstalled(config.dataDir)).find((model) => model.name === name);
  const isPath = (await listModelInstalls(db.kysely)).some(
    (install) => install.name === name && isUnlisted(install),
  );
  const known = found ?? findInCatalogue(name) ?? (isPath ? ofPath : undefined);
  if (known === undefined || familyOf(known) !== family) throw notFound(family, name);
  const isInstalled = found !== undefined;
  await db.kysely.transaction().execute(async (tx) => {
    const wasInstalling = await deleteModelInstall(tx, name);
    if (!isInstalled && !wasInstalling) throw notFound(family, name);
    await audit(tx, name);
  });
  if (isInstalled) await removeModel(config.dataDir, name);
  else await discardUnfinished(config.dataDir, name);
}

/** What a model is for. */
type ModelFamily = "speech" | "language";
const familyOf = (model: { readonly kind: ModelKind }): ModelFamily =>
  isLanguage(model) ? "language" : "speech";

function notFound(family: ModelFamily, name: string): ProblemError {
  const operation = family === "speech" ? "List Speech Models" : "List Language Models";
  return new ProblemError("not_found", `there is no ${family} model ${name}; see ${operation}`);
}
