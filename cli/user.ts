import { text } from "node:stream/consumers";
import { Command, Option } from "commander";
import { type Role, roles } from "../server/access/principal.ts";
import { AccountError, chooseWorkspace, createUser } from "../server/accounts/service.ts";
import { printValue, withTransaction } from "./with-database.ts";

interface Options {
  email: string;
  name: string;
  workspace?: string;
  role: Role;
  passwordStdin?: boolean;
  json?: boolean;
}

export function userCommand(): Command {
  const create = new Command("create")
    .description("make a user; prints the id")
    .requiredOption("--email <email>", "primary email")
    .requiredOption("--name <name>", "full name")
    .option("--workspace <id>", "workspace; needed when there are several")
    .addOption(new Option("--role <role>", "what the user may do").choices([...roles]).default("member"))
    .option("--password-stdin", "read the password from standard input")
    .option("--json", "print a JSON object")
    .action(async (options: Options) => {
      const password = options.passwordStdin ? await readPassword() : undefined;
      const { id } = await withTransaction(async (tx) =>
        createUser(tx, {
          workspaceId: await chooseWorkspace(tx, options.workspace),
          email: options.email,
          name: options.name,
          role: options.role,
          ...(password === undefined ? {} : { password }),
        }),
      );
      printValue(id, { id, email: options.email, role: options.role }, options);
    });
  return new Command("user").description("users").addCommand(create);
}

async function readPassword(): Promise<string> {
  const password = (await text(process.stdin)).replace(/\r?\n$/, "");
  if (password.length < 8)
    throw new AccountError("the password on standard input needs at least 8 characters");
  return password;
}
