import { Command } from "commander";
import { sql } from "kysely";
import type { Compatibility, DatetimeFilters } from "../../contract/common.ts";
import {
  AccountError,
  chooseWorkspace,
  createAccessToken,
  findAnyUser,
} from "../../server/people/accounts/service.ts";
import { findTokens, revokeToken } from "../../server/people/accounts/tokens/tokens.ts";
import { commandLine, recordAudit } from "../../server/platform/audit/record.ts";
import { counted } from "../../shared/counted.ts";
import { compatibilityOption, datetimeFiltersOption, readDuration } from "../support/options.ts";
import { printValue, readToolConfig, withTransaction } from "../support/with-database.ts";

interface Options {
  email: string;
  workspace?: boolean;
  name: string;
  expiresIn?: number;
  datetimeFilters?: DatetimeFilters;
  compat?: Compatibility;
  json?: boolean;
}

export function tokenCommand(command: Command): Command {
  const create = new Command("create")
    .description("create an access token; prints the token, which is not shown again")
    .requiredOption("--email <email>", "email of the token's user")
    .option("--workspace", "create a workspace token (the user must be an admin)")
    .option("--name <name>", "what the token is used for", "command line")
    .option("--expires-in <duration>", "lifetime, such as 30d (default: does not expire)", readDuration)
    .addOption(datetimeFiltersOption())
    .addOption(compatibilityOption())
    .option("--json", "print the result as a JSON object")
    .action(async (options: Options) => {
      const expiresAt = options.expiresIn === undefined ? null : new Date(Date.now() + options.expiresIn);
      const type = options.workspace ? "workspace_access_token" : "personal_access_token";
      const setting = readToolConfig();
      const datetimeFilters = options.datetimeFilters ?? setting.datetimeFilters;
      const compatibility = options.compat ?? setting.compatibility;
      const { id, token } = await withTransaction(async (tx) => {
        const created = await createAccessToken(tx, {
          ...options,
          type,
          expiresAt,
          datetimeFilters,
          compatibility,
        });
        const user = await findAnyUser(tx, options.email);
        await recordAudit(tx, commandLine(user.workspace_id), {
          action: "token_issued",
          subject: { type: "token", id: created.id },
          details: { type, name: options.name, user_id: user.id, expires_at: expiresAt },
        });
        return created;
      });
      printValue(token, { id, token, expires_at: expiresAt?.toISOString() ?? null }, options);
    });
  return command.addCommand(create).addCommand(listCommand()).addCommand(revokeCommand());
}

function listCommand(): Command {
  return new Command("list")
    .description("list active tokens: ID, type, email, name, last use, expiry")
    .option("--email <email>", "only tokens of this user")
    .option("--workspace <id>", "workspace ID; required if there are several workspaces")
    .option("--json", "print the result as a JSON array")
    .action(async (options: { email?: string; workspace?: string; json?: boolean }) => {
      const tokens = await withTransaction(async (tx) => {
        if (options.email === undefined) return findTokens(tx, await chooseWorkspace(tx, options.workspace));
        const user = await findAnyUser(tx, options.email);
        return findTokens(tx, user.workspace_id, { userId: user.id });
      });
      const rows = tokens.map((token) => ({
        id: token.id,
        type: token.type,
        email: token.user_email,
        name: token.name,
        last_used: token.last_used_at?.toISOString() ?? null,
        expires_at: token.expires_at?.toISOString() ?? null,
      }));
      const lines = rows.map((row) =>
        [row.id, row.type, row.email, row.name, row.last_used ?? "-", row.expires_at ?? "-"].join("\t"),
      );
      printValue(lines.join("\n"), rows, options);
    });
}

function revokeCommand(): Command {
  return new Command("revoke")
    .description("revoke a token immediately")
    .argument("<id>", "ID from token list")
    .action(async (id: string) => {
      const revoked = await withTransaction(async (tx) => {
        const token = await tx
          .selectFrom("access_tokens")
          .select("workspace_id")
          .where(sql<string>`id::text`, "=", id.toLowerCase())
          .where("revoked_at", "is", null)
          .executeTakeFirst();
        if (token === undefined)
          throw new AccountError(`token ${id} does not exist or is revoked; see parley token list`);
        return revokeToken(tx, commandLine(token.workspace_id), id.toLowerCase(), null);
      });
      const others = revoked.length - 1;
      console.error(`revoked ${id}${others > 0 ? ` and ${counted(others, "token")} created with it` : ""}`);
    });
}
