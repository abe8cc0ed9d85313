import { Command } from "commander";
import { chooseWorkspace, createTeam } from "../../server/people/accounts/service.ts";
import { commandLine, recordAudit } from "../../server/platform/audit/record.ts";
import { collect } from "../support/options.ts";
import { printValue, withTransaction } from "../support/with-database.ts";

interface Options {
  name: string;
  workspace?: string;
  member: string[];
  json?: boolean;
}

export function teamCommand(command: Command): Command {
  const create = new Command("create")
    .description("create a team; prints its ID")
    .requiredOption("--name <name>", "name of the team")
    .option("--workspace <id>", "workspace ID; required if there are several workspaces")
    .option("--member <email>", "email of a member; can be repeated", collect, [])
    .option("--json", "print the result as a JSON object")
    .action(async (options: Options) => {
      const { id } = await withTransaction(async (tx) => {
        const workspaceId = await chooseWorkspace(tx, options.workspace);
        const team = await createTeam(tx, {
          workspaceId,
          name: options.name,
          memberEmails: options.member,
        });
        await recordAudit(tx, commandLine(workspaceId), {
          action: "team_created",
          subject: { type: "team", id: team.id },
          details: { name: options.name },
        });
        return team;
      });
      printValue(id, { id, name: options.name }, options);
    });
  return command.addCommand(create);
}
