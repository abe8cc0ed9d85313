import type { Command } from "commander";
import { openConfiguredDatabase } from "../../server/open.ts";
import { type Check, checkSettings, runDoctor } from "../../server/operations/system/doctor/run.ts";
import { type Config, ConfigError, readConfig } from "../../server/platform/config/config.ts";
import { counted } from "../../shared/counted.ts";
import { toolLog } from "../support/with-database.ts";
import { readWholeConfig } from "../support/with-store.ts";

interface Options {
  json?: boolean;
}

const marks = { ok: "ok", warning: "warning", error: "ERROR", skipped: "-" } as const;

/** `parley doctor` */
export function doctorCommand(command: Command): Command {
  return command.option("--json", "print the result as a JSON array").action(async ({ json }: Options) => {
    const found: Check[] = [];
    const report = (check: Check): void => {
      found.push(check);
      if (!json) print(check);
    };
    const { config, message } = readSettings();
    for (const check of checkSettings(message, process.env)) report(check);
    if (config !== null)
      await runDoctor(
        await readWholeConfig(config),
        async (work) => {
          const opened = await openConfiguredDatabase(config, "tool", toolLog());
          try {
            return await work(opened.db);
          } finally {
            await opened.close();
          }
        },
        report,
      );
    if (json) process.stdout.write(`${JSON.stringify(found)}\n`);
    const count = (state: Check["state"]) => found.filter((check) => check.state === state).length;
    console.error(`${counted(count("error"), "error")}, ${counted(count("warning"), "warning")}`);
    if (count("error") > 0) process.exitCode = 1;
  });
}

function readSettings(): { config: Config | null; message: string | null } {
  try {
    return { config: readConfig(process.env, process.cwd()), message: null };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { config: null, message: error.message };
  }
}

function print({ check, state, explanation, remedy }: Check): void {
  process.stdout.write(`${marks[state].padEnd(7)}  ${check}: ${explanation}\n`);
  if (remedy !== null) process.stdout.write(`${" ".repeat(9)}-> ${remedy}\n`);
}
