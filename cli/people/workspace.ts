import { Command, InvalidArgumentError } from "commander";
import { readOperatorWorkspace } from "../../server/operations/system/operator.ts";
import { chooseWorkspace, createWorkspace } from "../../server/people/accounts/service.ts";
import { claimAtCreation } from "../../server/people/accounts/workspaces/claim-domains.ts";
import { parseDuration } from "../../server/platform/config/values.ts";
import { collect } from "../support/options.ts";
import { printValue, withDatabase, withTransaction } from "../support/with-database.ts";

interface Options {
  name: string;
  emailDomain: string[];
  maxDuration?: number;
  json?: boolean;
}

/** Parses a duration to whole seconds. At most 24 days, because the database stores milliseconds in 32 bits. */
function readPlanSeconds(text: string): number {
  const ms = parseDuration(text);
  if (ms === null || ms < 10_000 || ms > 24 * 86_400_000)
    throw new InvalidArgumentError("must be a duration from 10s to 24d, such as 90m or 4h");
  return Math.floor(ms / 1000);
}

export function workspaceCommand(command: Command): Command {
  const create = new Command("create")
    .description("create a workspace with twelve meeting types; prints its ID")
    .requiredOption("--name <name>", "name of the workspace")
    .option(
      "--email-domain <domain>",
      "email domain of internal participants, whose users can be created only in this workspace; can be repeated",
      collect,
      [],
    )
    .option(
      "--max-duration <duration>",
      "maximum length of a recording, such as 4h (default: PARLEY_MAX_DURATION)",
      readPlanSeconds,
    )
    .option("--json", "print the result as a JSON object")
    .action(async (options: Options) => {
      const { id, shared } = await withTransaction(async (tx) => {
        const workspace = await createWorkspace(tx, {
          name: options.name,
          emailDomains: options.emailDomain,
          maxDurationSec: options.maxDuration,
        });
        const unclaimed: string[] = [];
        for (const domain of new Set(options.emailDomain))
          if (!(await claimAtCreation(tx, workspace.id, domain))) unclaimed.push(domain);
        return { id: workspace.id, shared: unclaimed };
      });
      for (const domain of shared)
        console.error(
          `${domain} is not claimed by this workspace, because another one lists or owns it; see parley domain --help`,
        );
      printValue(id, { id, name: options.name }, options);
    });
  return command.addCommand(create).addCommand(listCommand()).addCommand(operatorCommand());
}

function operatorCommand(): Command {
  return new Command("operator")
    .description("print or change the operator's workspace, whose admins see the whole installation")
    .argument("[id]", "id of the workspace")
    .option("--json", "print the result as a JSON object")
    .action(async (id: string | undefined, options: { json?: boolean }) => {
      const workspace = await withDatabase(async (db) => {
        if (id !== undefined)
          await db.kysely.transaction().execute(async (tx) => {
            const chosen = await chooseWorkspace(tx, id);
            await tx.updateTable("installation").set({ operator_workspace_id: chosen }).execute();
          });
        return readOperatorWorkspace(db);
      });
      if (workspace === null && !options.json)
        console.error("no workspace is the operator's; name one: parley workspace operator ID");
      else
        printValue(workspace === null ? "" : `${workspace.id}\t${workspace.name}`, workspace ?? {}, options);
    });
}

function listCommand(): Command {
  return new Command("list")
    .description("list workspaces: ID, name")
    .option("--json", "print the result as a JSON array")
    .action(async (options: { json?: boolean }) => {
      const rows = await withTransaction((tx) =>
        tx.selectFrom("workspaces").select(["id", "name"]).orderBy("created_at").orderBy("id").execute(),
      );
      printValue(rows.map((row) => `${row.id}\t${row.name}`).join("\n"), rows, options);
    });
}
