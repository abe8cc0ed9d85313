import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { Argument, Command } from "commander";
import { settingsTests } from "../../contract/settings-tests.ts";
import { readOperatorWorkspace } from "../../server/operations/system/operator.ts";
import {
  type Changer,
  changeSettings,
  describeSettings,
  readTexts,
  type SettingChanges,
} from "../../server/operations/system/settings/change.ts";
import { createSettingsTests } from "../../server/operations/system/settings/test-settings.ts";
import { commandLine } from "../../server/platform/audit/record.ts";
import { type Config, ConfigError, parseSettings, withNearest } from "../../server/platform/config/config.ts";
import { createEncryptor, type Encryptor } from "../../server/platform/crypto/encryptor.ts";
import { openSecrets } from "../../server/platform/crypto/secret.ts";
import type { Database } from "../../server/platform/db/database.ts";
import { ProblemError } from "../../server/platform/http/errors/problem.ts";
import { counted } from "../../shared/counted.ts";
import { sourceLanguage } from "../../shared/languages.ts";
import { printTable } from "../support/print-table.ts";
import { withStore } from "../support/with-store.ts";

interface Options {
  json?: boolean;
}

interface Dependencies {
  readonly db: Database;
  readonly encryptor: Encryptor;
  readonly config: Config;
}

type Shown = Awaited<ReturnType<typeof describeSettings>>[number];

/** `parley settings` */
export function settingsCommand(command: Command): Command {
  const name = () => new Argument("<name>", "such as PARLEY_SMTP_URL");
  const add = (verb: string, description: string) => {
    const sub = new Command(verb).description(description).option("--json", "print the result as JSON");
    command.addCommand(sub);
    return sub;
  };
  add("list", "list all settings, their values and where these come from").action(list);
  add("get", "show a setting with its help").addArgument(name()).action(get);
  add("set", "change a setting, in force in all processes within two seconds")
    .addArgument(name())
    .argument("[value]", "left out: read from standard input, so that a secret is in no list of processes")
    .action(async (setting: string, value: string | undefined, options: Options) => {
      if (value === undefined && process.stdin.isTTY)
        console.error(`enter the value of ${setting}, then a line break and Ctrl+D`);
      // A line ends with a line break, which is no part of the value.
      const given = value ?? (await text(process.stdin)).replace(/\r?\n$/, "");
      const changed = await change({ [setting]: given }, options);
      if (value !== undefined && changed.some(({ is_secret }) => is_secret))
        console.error(
          "this secret was in the list of processes, and may be in your shell's history; leave the value out to enter it",
        );
    });
  add("unset", "go back to the default of a setting")
    .addArgument(name())
    .action(async (setting: string, options: Options) => {
      await change({ [setting]: null }, options);
    });
  add("test", "try settings as the work itself uses them; exit code 1 if that fails")
    .addArgument(new Argument("<test>").choices(settingsTests))
    .option("--to <email>", "send the test email there; without it, only the connection is tried")
    .action(runTest);
  add("export", "print the settings that are set as JSON, for PARLEY_SETTINGS_FILE or parley settings import")
    .option("--secrets", "print secrets too")
    .action(exportAll);
  add("import", "change all settings that a file names, or none")
    .argument("<file>", "what parley settings export printed; - for standard input")
    .action(async (file: string, options: Options) => {
      const content = file === "-" ? await text(process.stdin) : await readFile(file, "utf8");
      let texts: ReturnType<typeof parseSettings>;
      try {
        texts = parseSettings(content);
      } catch (error) {
        throw new ConfigError(`${file} ${(error as Error).message}`);
      }
      await change(
        Object.fromEntries(Object.entries(texts).map(([setting, value]) => [setting, value ?? null])),
        options,
      );
    });
  return command;
}

function withSettings<T>(access: "read" | "write", work: (deps: Dependencies) => Promise<T>): Promise<T> {
  return withStore(async (db, store, config) => {
    const secrets = await openSecrets(config.secret, store, db, { isReader: access === "read" });
    return work({ db, encryptor: createEncryptor(secrets), config });
  });
}

function shownValue({ is_secret, is_set, value }: Shown): string {
  if (is_secret) return is_set ? "(set)" : "";
  return value ?? "";
}

async function list({ json }: Options): Promise<void> {
  const settings = await withSettings("read", describeSettings);
  if (json) process.stdout.write(`${JSON.stringify(settings)}\n`);
  else
    for (const section of new Set(settings.map((one) => one.section))) {
      process.stdout.write(`${section}\n`);
      printTable(
        settings
          .filter((one) => one.section === section)
          .map((one) => [one.name, one.source, shownValue(one)]),
      );
    }
}

async function get(name: string, { json }: Options): Promise<void> {
  const found = (await withSettings("read", describeSettings)).find((one) => one.name === name);
  if (found === undefined) throw new ConfigError(`${withNearest(name)} is not a setting`);
  if (json) process.stdout.write(`${JSON.stringify(found)}\n`);
  else {
    process.stdout.write(`${shownValue(found)}\n`);
    console.error(`${found.name} (${found.section}; ${found.type}; from: ${found.source}): ${found.help}`);
  }
}

async function change(changes: SettingChanges, { json }: Options): Promise<Shown[]> {
  const settings = await withSettings("write", async (deps) => {
    await changeSettings(deps, changes, await changerOf(deps.db)).catch(explain);
    return describeSettings(deps);
  });
  const changed = settings.filter(({ name }) => Object.hasOwn(changes, name));
  if (json) process.stdout.write(`${JSON.stringify(changed)}\n`);
  else
    console.error(
      `${counted(changed.length, "setting")} saved: ${changed.map(({ name }) => name).join(", ")}`,
    );
  return changed;
}

/** @throws ConfigError that names every bad value. */
function explain(error: unknown): never {
  if (error instanceof ProblemError && error.violations !== undefined)
    throw new ConfigError(
      error.violations
        .map(({ pointer, detail }) => {
          const name = pointer.replace("/settings/", "");
          return detail.startsWith(name) ? detail : `${name} ${detail}`;
        })
        .join("; "),
    );
  throw error;
}

/** The command line; its changes are in the audit log of the operator's workspace. */
async function changerOf(db: Database): Promise<Changer> {
  const workspace =
    (await readOperatorWorkspace(db)) ??
    (await db.kysely.selectFrom("workspaces").select("id").orderBy("id").limit(1).executeTakeFirst());
  return {
    userId: null,
    actor: workspace === undefined ? null : commandLine(workspace.id),
    host: null,
  };
}

async function runTest(
  test: (typeof settingsTests)[number],
  { to, json }: Options & { to?: string },
): Promise<void> {
  const receiver = to === undefined ? null : { email: to, language: sourceLanguage };
  const result = await withSettings("read", (deps) => createSettingsTests(deps)(test, {}, receiver));
  if (json) process.stdout.write(`${JSON.stringify(result)}\n`);
  else
    process.stdout.write(
      `${result.passed ? "passed" : "FAILED"} after ${result.took_ms} ms: ${result.message}\n`,
    );
  if (!result.passed) process.exitCode = 1;
}

async function exportAll({ secrets }: { secrets?: boolean }): Promise<void> {
  const { settings, texts } = await withSettings("read", async (deps) => ({
    settings: await describeSettings(deps),
    texts: await readTexts(deps),
  }));
  const set = settings.filter(({ is_set, name }) => is_set && texts[name] !== undefined);
  const shown = set.filter(({ is_secret }) => secrets || !is_secret);
  const content = Object.fromEntries(shown.map(({ name }) => [name, texts[name]]));
  process.stdout.write(`${JSON.stringify(content, null, 2)}\n`);
  if (shown.length < set.length)
    console.error(
      `${counted(set.length - shown.length, "secret")} left out; --secrets prints them too, in clear`,
    );
}
