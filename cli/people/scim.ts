import { Command } from "commander";
import { sql } from "kysely";
import { AccountError, chooseWorkspace } from "../../server/people/accounts/service.ts";
import { createScimToken, findScimTokens, revokeScimToken } from "../../server/people/scim/tokens/tokens.ts";
import { commandLine } from "../../server/platform/audit/record.ts";
import { printValue, withTransaction } from "../support/with-database.ts";

interface Options {
  workspace?: string;
  name: string;
  json?: boolean;
}

export function scimCommand(command: Command): Command {
  const token = new Command("token")
    .description("create a SCIM token; prints the token, which is not shown again")
    .option("--workspace <id>", "workspace ID; required if there are several workspaces")
    .option("--name <name>", "the provider that uses it", "command line")
    .option("--json", "print the result as a JSON object")
    .action(async (options: Options) => {
      const created = await withTransaction(async (tx) =>
        createScimToken(tx, commandLine(await chooseWorkspace(tx, options.workspace)), options.name),
      );
      printValue(created.token, created, options);
    });
  return command.addCommand(token).addCommand(listCommand()).addCommand(revokeCommand());
}

function listCommand(): Command {
  return new Command("list")
    .description("list a workspace's active SCIM tokens: ID, name, last use")
    .option("--workspace <id>", "workspace ID; required if there are several workspaces")
    .option("--json", "print the result as a JSON array")
    .action(async (options: { workspace?: string; json?: boolean }) => {
      const tokens = await withTransaction(async (tx) =>
        findScimTokens(tx, await chooseWorkspace(tx, options.workspace)),
      );
      const rows = tokens.map((token) => ({
        id: token.id,
        name: token.name,
        created: token.created_at.toISOString(),
        last_used: token.last_used_at?.toISOString() ?? null,
        ignored_attributes: token.ignored,
      }));
      const lines = rows.map((row) => [row.id, row.name, row.last_used ?? "-"].join("\t"));
      printValue(lines.join("\n"), rows, options);
    });
}

function revokeCommand(): Command {
  return new Command("revoke")
    .description("revoke a SCIM token immediately; users and teams stay as they are")
    .argument("<id>", "ID from scim list")
    .action(async (id: string) => {
      await withTransaction(async (tx) => {
        const token = await tx
          .selectFrom("scim_tokens")
          .select(["id", "workspace_id"])
          .where(sql<string>`id::text`, "=", id.toLowerCase())
          .where("revoked_at", "is", null)
          .executeTakeFirst();
        if (token === undefined)
          throw new AccountError(`SCIM token ${id} does not exist or is revoked; see parley scim list`);
        await revokeScimToken(tx, commandLine(token.workspace_id), token.id);
      });
      console.error(`revoked ${id}`);
    });
}
