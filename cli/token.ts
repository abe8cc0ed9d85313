import { Command } from "commander";
import { createAccessToken } from "../server/accounts/service.ts";
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
      const { id, token } = await withTransaction((tx) =>
        createAccessToken(tx, {
          email: options.email,
          type: options.workspace ? "workspace_access_token" : "personal_access_token",
          name: options.name,
          expiresAt,
        }),
      );
      printValue(token, { id, token, expires_at: expiresAt?.toISOString() ?? null }, options);
    });
  return new Command("token").description("access tokens").addCommand(create);
}
