import { Command, InvalidArgumentError } from "commander";
import { createWorkspace } from "../server/accounts/service.ts";
import { parseDuration } from "../server/config-values.ts";
import { collect } from "./options.ts";
import { printValue, withTransaction } from "./with-database.ts";

interface Options {
  name: string;
  emailDomain: string[];
  maxDuration?: number;
  json?: boolean;
}

/** Whole seconds of a duration; as long as a recording may be, which is what a database column counts in ms. */
function readPlanSeconds(text: string): number {
  const ms = parseDuration(text);
  if (ms === null || ms < 10_000 || ms > 24 * 86_400_000)
    throw new InvalidArgumentError("must be a duration such as 90m or 4h, from 10s to 24d");
  return Math.floor(ms / 1000);
}

export function workspaceCommand(): Command {
  const create = new Command("create")
    .description("make a workspace with its twelve meeting types; prints its id")
    .requiredOption("--name <name>", "what it is called")
    .option(
      "--email-domain <domain>",
      "people with this email domain count as internal; may be repeated",
      collect,
      [],
    )
    .option(
      "--max-duration <duration>",
      "longest recording its plan allows, such as 4h (default: the setting PARLEY_MAX_DURATION)",
      readPlanSeconds,
    )
    .option("--json", "print a JSON object")
    .action(async (options: Options) => {
      const { id } = await withTransaction((tx) =>
        createWorkspace(tx, {
          name: options.name,
          emailDomains: options.emailDomain,
          maxDurationSec: options.maxDuration,
        }),
      );
      printValue(id, { id, name: options.name }, options);
    });
  return new Command("workspace").description("workspaces").addCommand(create).addCommand(listCommand());
}

function listCommand(): Command {
  return new Command("list")
    .description("list the workspaces: id, name")
    .option("--json", "print a JSON array")
    .action(async (options: { json?: boolean }) => {
      const rows = await withTransaction((tx) =>
        tx.selectFrom("workspaces").select(["id", "name"]).orderBy("created_at").orderBy("id").execute(),
      );
      printValue(rows.map((row) => `${row.id}\t${row.name}`).join("\n"), rows, options);
    });
}
