import { Command } from "commander";
import { chooseWorkspace, createTeam } from "../server/accounts/service.ts";
import { commandLine, recordAudit } from "../server/audit/record.ts";
import { collect } from "./options.ts";
import { printValue, withTransaction } from "./with-database.ts";

interface Options {
  name: string;
  workspace?: string;
  member: string[];
  json?: boolean;
}

export function teamCommand(): Command {
  const create = new Command("create")
    .description("make a team; prints its id")
    .requiredOption("--name <name>", "what it is called")
    .option("--workspace <id>", "workspace; needed when there are several")
    .option("--member <email>", "a user who belongs to it; may be repeated", collect, [])
    .option("--json", "print a JSON object")
    .action(async (options: Options) => {
      const { id } = await withTransaction(async (tx) => {
        const workspaceId = await chooseWorkspace(tx, options.workspace);
        const made = await createTeam(tx, {
          workspaceId,
          name: options.name,
          memberEmails: options.member,
        });
        await recordAudit(tx, commandLine(workspaceId), {
          action: "team_created",
          subject: { type: "team", id: made.id },
          details: { name: options.name },
        });
        return made;
      });
      printValue(id, { id, name: options.name }, options);
    });
  return new Command("team").description("teams").addCommand(create);
}
