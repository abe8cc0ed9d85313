import { Command } from "commander";
import { createWorkspace } from "../server/accounts/service.ts";
import { collect } from "./options.ts";
import { printValue, withTransaction } from "./with-database.ts";

interface Options {
  name: string;
  emailDomain: string[];
  json?: boolean;
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
    .option("--json", "print a JSON object")
    .action(async (options: Options) => {
      const { id } = await withTransaction((tx) =>
        createWorkspace(tx, { name: options.name, emailDomains: options.emailDomain }),
      );
      printValue(id, { id, name: options.name }, options);
    });
  return new Command("workspace").description("workspaces").addCommand(create);
}
