import { Command } from "commander";
import { sql } from "kysely";
import { AccountError, chooseWorkspace, createAccessToken, findAnyUser } from "../server/accounts/service.ts";
import { findTokens, revokeToken } from "../server/accounts/tokens.ts";
import { commandLine, recordAudit } from "../server/audit/record.ts";
import { readDuration } from "./options.ts";
import { printValue, withTransaction } from "./with-database.ts";

interface Options {
  email: string;
  workspace?: boolean;
  name: string;
  expiresIn?: number;
  json?: boolean;
}

export function tokenCommand(): Command {
  const create = new Command("create")
    .description("issue an access token; prints it alone, once and never again")
    .requiredOption("--email <email>", "the user whose token it is")
    .option("--workspace", "a token for the whole workspace (the user must be an admin)")
    .option("--name <name>", "what it is for", "command line")
    .option(
      "--expires-in <duration>",
      "how long it is good, such as 30d; without, it does not expire",
      readDuration,
    )
    .option("--json", "print a JSON object")
    .action(async (options: Options) => {
      const expiresAt = options.expiresIn === undefined ? null : new Date(Date.now() + options.expiresIn);
      const type = options.workspace ? "workspace_access_token" : "personal_access_token";
      const { id, token } = await withTransaction(async (tx) => {
        const made = await createAccessToken(tx, { ...options, type, expiresAt });
        const user = await findAnyUser(tx, options.email);
        await recordAudit(tx, commandLine(user.workspace_id), {
          action: "token_issued",
          subject: { type: "token", id: made.id },
          details: { type, name: options.name, user_id: user.id, expires_at: expiresAt },
        });
        return made;
      });
      printValue(token, { id, token, expires_at: expiresAt?.toISOString() ?? null }, options);
    });
  return new Command("token")
    .description("access tokens")
    .addCommand(create)
    .addCommand(listCommand())
    .addCommand(revokeCommand());
}

function listCommand(): Command {
  return new Command("list")
    .description("list the tokens that are not revoked: id, type, whose, name, last use, expiry")
    .option("--email <email>", "only those of this user")
    .option("--workspace <id>", "workspace; needed when there are several")
    .option("--json", "print a JSON array")
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
    .description("end a token at once")
    .argument("<id>", "its id, as token list shows it")
    .action(async (id: string) => {
      await withTransaction(async (tx) => {
        const token = await tx
          .selectFrom("access_tokens")
          .select("workspace_id")
          .where(sql<string>`id::text`, "=", id.toLowerCase())
          .where("revoked_at", "is", null)
          .executeTakeFirst();
        if (token === undefined) throw new AccountError(`there is no token ${id} to revoke`);
        await revokeToken(tx, commandLine(token.workspace_id), id.toLowerCase(), null);
      });
      console.error(`revoked ${id}`);
    });
}
