import { Command } from "commander";
import { noRules } from "../../contract/accounts/security.ts";
import { findRules } from "../../server/people/access/security-rules.ts";
import { resetRules, rulesOf } from "../../server/people/accounts/security/rules.ts";
import { chooseWorkspace } from "../../server/people/accounts/service.ts";
import { commandLine } from "../../server/platform/audit/record.ts";
import { printValue, withTransaction } from "../support/with-database.ts";

interface Options {
  workspace?: string;
  json?: boolean;
}

export function securityCommand(command: Command): Command {
  const show = new Command("show")
    .description("print the security rules of a workspace: rule, value")
    .option("--workspace <id>", "workspace ID; required if there are several workspaces")
    .option("--json", "print the result as a JSON object")
    .action(async (options: Options) => {
      const rules = await withTransaction(async (tx) =>
        rulesOf(await findRules(tx, await chooseWorkspace(tx, options.workspace))),
      );
      const lines = Object.keys(noRules).map((name) => {
        const value = rules[name as keyof typeof rules];
        return `${name}\t${Array.isArray(value) ? value.join(" ") || "-" : String(value ?? "-")}`;
      });
      printValue(lines.join("\n"), rules, options);
    });
  const reset = new Command("reset")
    .description("remove all security rules of a workspace, so that locked-out users can sign in again")
    .option("--workspace <id>", "workspace ID; required if there are several workspaces")
    .action(async (options: Options) => {
      const isChanged = await withTransaction(async (tx) =>
        resetRules(tx, commandLine(await chooseWorkspace(tx, options.workspace))),
      );
      console.error(
        isChanged
          ? "removed all security rules; they end for running servers at once"
          : "the workspace has no security rules",
      );
    });
  return command.addCommand(show).addCommand(reset);
}
