import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { jobKinds } from "../../server/jobs.ts";
import { openInstallationStore, readStores } from "../../server/operations/move/stores.ts";
import { type Finding, failing, reasonOf } from "../../server/operations/system/health/finding.ts";
import {
  testDatabase,
  testLanguageModel,
  testMail,
  testSpeech,
  testStorage,
} from "../../server/operations/system/health/test-component.ts";
import { readSystem, type SystemState } from "../../server/operations/system/overview.ts";
import { readStorageUse } from "../../server/operations/system/storage-use.ts";
import { explainWriteFailure } from "../../server/operations/system/write-failure.ts";
import { type Config, ConfigError, readConfig } from "../../server/platform/config/config.ts";
import type { Database } from "../../server/platform/db/database.ts";
import { openJobQueue } from "../../server/platform/jobs/queue.ts";
import { i18nFor } from "../../server/platform/language/i18n.ts";
import type { ObjectStore } from "../../server/platform/storage/store.ts";
import { version } from "../../server/platform/version.ts";
import { describeBytes } from "../support/describe-bytes.ts";
import { printTable } from "../support/print-table.ts";
import { toolLog, withOpenDatabase } from "../support/with-database.ts";
import { addAppSettings } from "../support/with-store.ts";
import { notesOn } from "./watched.ts";

interface Options {
  json?: boolean;
  test?: boolean;
}

type Components = SystemState["components"];
type State = SystemState & { readonly storage: Awaited<ReturnType<typeof readStorageUse>> };

/** `parley status` */
export function statusCommand(command: Command): Command {
  return command
    .option("--test", "also try database, file store, mail server and models")
    .option("--json", "print the result as a JSON object")
    .action(async (options: Options) => {
      const config = readConfig(process.env, process.cwd());
      refuseMissingDatabase(config);
      const state = await readState(config, options.test ?? false);
      if (options.json) process.stdout.write(`${JSON.stringify(state)}\n`);
      else if ("processes" in state) printState(state);
      else printComponents(state.components);
      if (!state.healthy) process.exitCode = 1;
    });
}

/** @throws ConfigError instead of creating a database, which is the server's work. */
function refuseMissingDatabase({ databaseUrl, dataDir }: Config): void {
  if (
    databaseUrl !== null ||
    ["postgres", "postgres.location"].some((name) => existsSync(join(dataDir, name)))
  )
    return;
  throw new ConfigError(
    `there is no database in ${dataDir}; start the server, or set PARLEY_DATA_DIR or PARLEY_DATABASE_URL as it has them`,
  );
}

/** The whole state; only the database's while it can't be reached. */
async function readState(
  given: Config,
  isTested: boolean,
): Promise<State | Pick<SystemState, "version" | "healthy" | "components">> {
  try {
    return await withOpenDatabase(given, async ({ db }) => {
      const { store } = await openInstallationStore({ db, config: given, log: toolLog() });
      try {
        const config = await addAppSettings(given, db, store);
        const system = await readSystem(
          { db, jobs: openJobQueue(jobKinds), store, config },
          await i18nFor(null),
        );
        const components = isTested
          ? await testAll(system.components, { db, store, config })
          : system.components;
        const storage = await readStorageUse(db, config.dataDir);
        const healthy = components.every((one) => one.state !== "failing");
        return { ...system, healthy, components, storage };
      } finally {
        await store.close();
      }
    });
  } catch (error) {
    const { isRoom, cause, remedy } = await explainWriteFailure(error, given.dataDir);
    if (!isRoom && !isUnreachable(error)) throw error;
    const finding = isRoom
      ? failing(`the database can't be reached: ${cause}`, remedy)
      : failing(
          `the database can't be reached: ${reasonOf(error)}`,
          given.databaseUrl === null
            ? "Run `parley doctor`, which checks the data folder and the embedded database."
            : "Check that PostgreSQL is running and that PARLEY_DATABASE_URL is right; `parley doctor` checks more.",
        );
    return { version, healthy: false, components: [{ component: "database", ...finding }] };
  }
}

/** Other errors, such as an outdated schema, are explained by the program. */
function isUnreachable(error: unknown): boolean {
  const { code } = (error instanceof AggregateError ? error.errors[0] : error) as { code?: unknown };
  return typeof code === "string" && (/^E[A-Z]+$/.test(code) || /^(08|28|3D|57)/.test(code));
}

/** The components as their tests find them. An email is not sent, only a connection is made. */
async function testAll(
  components: Components,
  { db, store, config }: { db: Database; store: ObjectStore; config: Config },
): Promise<Components> {
  const tests: Partial<Record<Components[number]["component"], () => Promise<Finding>>> = {
    database: () => testDatabase(db),
    storage: async () => testStorage(store, config, (await readStores(db.pool, config)).first),
    mail: () => testMail(config, null),
    speech: () => testSpeech(config.transcription, { dataDir: config.dataDir, session: db.session }),
    language_model: () => testLanguageModel({ config, db }),
  };
  return Promise.all(
    components.map(async (known) => ({
      component: known.component,
      ...((await tests[known.component]?.()) ?? known),
    })),
  );
}

const marks = { ok: "ok", failing: "FAILING", off: "off" } as const;

function printComponents(components: Components): void {
  printTable(
    components.flatMap(({ component, state, explanation, remedy }) => [
      [marks[state], component, explanation],
      ...(remedy === null ? [] : [["", "", `-> ${remedy}`]]),
    ]),
  );
}

function printState(state: State): void {
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  print(`Parley ${state.version}: ${state.healthy ? "healthy" : "something is failing"}`);
  if (state.quarantine !== null)
    print(
      `This is the restored backup ${state.quarantine.backup}: it sends nothing until \`parley restore accept\`.`,
    );
  print("\nComponents");
  printComponents(state.components);
  if (state.secret_rotation !== null)
    print(
      `\nSecret rotation: ${state.secret_rotation.done} of ${state.secret_rotation.total} stored values are encrypted with the new secret; see \`parley secrets status\``,
    );
  print("\nProcesses");
  printTable(
    state.processes.map((one) => [
      one.responding ? "running" : "SILENT",
      one.role,
      `${one.host} (${one.pid})`,
      one.version,
      `since ${one.started_datetime}, last heartbeat ${one.heartbeat_datetime}`,
    ]),
  );
  print("\nJobs: waiting, running, failed, oldest");
  printTable(
    state.jobs.map((one) => [
      one.kind,
      String(one.waiting),
      String(one.running),
      String(one.failed),
      one.oldest_datetime ?? "-",
    ]),
  );
  if (state.failed_jobs.length > 0) print("\nSee `parley jobs list` for the failed jobs.");
  print(`\nFailing webhooks: ${state.failing_hook_count}`);
  printTable(
    state.failing_hooks.map((one) => [
      one.workspace.name,
      one.host,
      `since ${one.failing_since}`,
      one.last_error ?? "",
    ]),
  );
  if (state.watched_folders.length > 0)
    print("\nWatched folders: waiting, processing, done, failed, last check");
  printTable(
    state.watched_folders.flatMap((one) => [
      [
        one.folder,
        ...[one.waiting, one.pending, one.done, one.failed].map(String),
        one.last_scan_datetime ?? "never",
      ],
      ...notesOn(one).map((text) => ["", `-> ${text}`]),
    ]),
  );
  print("\nStorage");
  printTable([
    ...state.storage.workspaces.map((one) => [
      describeBytes(one.bytes),
      one.name ?? "other workspaces",
      one.kinds.map(({ kind, bytes }) => `${kind} ${describeBytes(bytes)}`).join(", "),
    ]),
    [describeBytes(state.storage.database_bytes), "database", ""],
  ]);
  const { backups } = state;
  print("\nBackups");
  printTable([
    ["last", backups.last_datetime ?? "none"],
    ["next", backups.next_datetime ?? "none scheduled"],
    ["last verified", backups.last_verified_datetime ?? "never"],
    ["files missing in the last", String(backups.missing_files)],
  ]);
}
