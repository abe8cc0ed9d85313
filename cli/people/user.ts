import { text } from "node:stream/consumers";
import { Command, Option } from "commander";
import { resetSecondFactor } from "../../server/people/accounts/second-factor/changes.ts";
import {
  AccountError,
  chooseWorkspace,
  createUser,
  findAnyUser,
} from "../../server/people/accounts/service.ts";
import { passwordProblem } from "../../server/people/accounts/sign-in/password-rules.ts";
import { findUserAccounts, stateOf } from "../../server/people/accounts/users/queries.ts";
import {
  changeUser,
  createResetLink,
  deactivateUser,
  inviteUser,
  reactivateUser,
} from "../../server/people/accounts/users/users.ts";
import { type AuditActor, commandLine, recordAudit } from "../../server/platform/audit/record.ts";
import { type Role, roles } from "../../server/platform/auth/principal.ts";
import type { Tx } from "../../server/platform/db/database.ts";
import { counted } from "../../shared/counted.ts";
import { printValue, withDatabase, withTransaction } from "../support/with-database.ts";

interface Options {
  email: string;
  name: string;
  workspace?: string;
  role: Role;
  passwordStdin?: boolean;
  json?: boolean;
}

export function userCommand(command: Command): Command {
  const create = new Command("create")
    .description("create a user; prints their ID")
    .requiredOption("--email <email>", "primary email")
    .requiredOption("--name <name>", "full name")
    .option("--workspace <id>", "workspace ID; required if there are several workspaces")
    .addOption(new Option("--role <role>", "role of the user").choices([...roles]).default("member"))
    .option("--password-stdin", "read the password from standard input")
    .option("--json", "print the result as a JSON object")
    .action(async (options: Options) => {
      const password = options.passwordStdin ? await readPassword(options.email) : undefined;
      const { id } = await withTransaction(async (tx) => {
        const workspaceId = await chooseWorkspace(tx, options.workspace);
        const user = await createUser(tx, {
          workspaceId,
          email: options.email,
          name: options.name,
          role: options.role,
          ...(password === undefined ? {} : { password }),
        });
        await recordAudit(tx, commandLine(workspaceId), {
          action: "user_created",
          subject: { type: "user", id: user.id },
          details: { email: options.email, role: options.role },
        });
        return user;
      });
      printValue(id, { id, email: options.email, role: options.role }, options);
    });
  return command
    .addCommand(create)
    .addCommand(inviteCommand())
    .addCommand(listCommand())
    .addCommand(resetPasswordCommand())
    .addCommand(
      changeCommand(
        "deactivate",
        "end a user's access immediately; recordings are kept",
        async (tx, actor, user) => {
          const { sessions, tokens, hooks, uploads } = await deactivateUser(tx, actor, user.id);
          return `ended ${counted(sessions, "session")}, revoked ${counted(tokens, "token")}, disabled ${counted(hooks, "hook")}, failed ${counted(uploads, "unfinished upload")}`;
        },
      ),
    )
    .addCommand(
      changeCommand("reactivate", "let a deactivated user sign in again", async (tx, actor, user) => {
        await reactivateUser(tx, actor, user.id);
        return "ended sessions and revoked tokens are not restored";
      }),
    )
    .addCommand(resetSecondFactorCommand())
    .addCommand(roleCommand());
}

function resetSecondFactorCommand(): Command {
  return new Command("reset-second-factor")
    .description(
      "turn off a user's two-factor authentication, remove their passkeys, unlink single sign-on that counts as their second factor, and end their sessions",
    )
    .requiredOption("--email <email>", "email of the user")
    .action(async (options: { email: string }) => {
      await withTransaction(async (tx) => {
        const user = await findAnyUser(tx, options.email);
        await resetSecondFactor(tx, commandLine(user.workspace_id), user.id, { mail: null, providers: [] });
      });
      console.error(`${options.email} signs in with their password alone now`);
    });
}

function inviteCommand(): Command {
  return new Command("invite")
    .description("create a user and a link to choose a password, valid for seven days; prints the link")
    .requiredOption("--email <email>", "primary email")
    .requiredOption("--name <name>", "full name")
    .option("--workspace <id>", "workspace ID; required if there are several workspaces")
    .addOption(new Option("--role <role>", "role of the user").choices([...roles]).default("member"))
    .option("--json", "print the result as a JSON object")
    .action(async (options: Options) => {
      const { id, link } = await withDatabase((db, config) =>
        db.kysely
          .transaction()
          .execute(async (tx) =>
            inviteUser(
              tx,
              commandLine(await chooseWorkspace(tx, options.workspace)),
              { baseUrl: config.baseUrl, mail: null },
              { ...options, teamIds: [], inviter: { name: "The operator", language: null } },
            ),
          ),
      );
      printValue(link.url, { id, url: link.url, expires_at: link.expiresAt.toISOString() }, options);
    });
}

function listCommand(): Command {
  return new Command("list")
    .description("list a workspace's users: email, role, state, last sign-in")
    .option("--workspace <id>", "workspace ID; required if there are several workspaces")
    .option("--json", "print the result as a JSON array")
    .action(async (options: { workspace?: string; json?: boolean }) => {
      const users = await withTransaction(async (tx) =>
        findUserAccounts(tx, await chooseWorkspace(tx, options.workspace)),
      );
      const rows = users.map((user) => ({
        id: user.id,
        email: user.email,
        name: user.name,
        role: user.role,
        state: stateOf(user),
        last_signed_in: user.last_signed_in_at?.toISOString() ?? null,
      }));
      const lines = rows.map((row) => [row.email, row.role, row.state, row.last_signed_in ?? "-"].join("\t"));
      printValue(lines.join("\n"), rows, options);
    });
}

function resetPasswordCommand(): Command {
  return new Command("reset-password")
    .description("create a link to choose a new password, valid for a day; prints the link")
    .requiredOption("--email <email>", "email of the user")
    .option("--json", "print the result as a JSON object")
    .action(async (options: { email: string; json?: boolean }) => {
      const link = await withDatabase((db, config) =>
        db.kysely.transaction().execute(async (tx) => {
          const user = await findAnyUser(tx, options.email);
          const deps = { baseUrl: config.baseUrl, mail: null };
          return createResetLink(tx, commandLine(user.workspace_id), deps, user.id);
        }),
      );
      printValue(link.url, { url: link.url, expires_at: link.expiresAt.toISOString() }, options);
    });
}

function roleCommand(): Command {
  return new Command("role")
    .description("change a user's role")
    .requiredOption("--email <email>", "email of the user")
    .addOption(new Option("--role <role>", "role of the user").choices([...roles]).makeOptionMandatory())
    .action(async (options: { email: string; role: Role }) => {
      const { tokens, hooks } = await withTransaction(async (tx) => {
        const user = await findAnyUser(tx, options.email);
        return changeUser(tx, commandLine(user.workspace_id), user.id, { role: options.role });
      });
      console.error(
        `${options.email} is now ${options.role}; workspace tokens revoked: ${tokens}, hooks disabled: ${hooks}`,
      );
    });
}

/** A command that changes one user and prints the outcome. */
function changeCommand(
  name: string,
  description: string,
  change: (tx: Tx, actor: AuditActor, user: { id: string }) => Promise<string>,
): Command {
  return new Command(name)
    .description(description)
    .requiredOption("--email <email>", "email of the user")
    .action(async (options: { email: string }) => {
      const outcome = await withTransaction(async (tx) => {
        const user = await findAnyUser(tx, options.email);
        return change(tx, commandLine(user.workspace_id), user);
      });
      console.error(`${name}d ${options.email}; ${outcome}`);
    });
}

async function readPassword(email: string): Promise<string> {
  const password = (await text(process.stdin)).replace(/\r?\n$/, "");
  const problem = passwordProblem(password, email);
  if (problem !== null) throw new AccountError(`the password on standard input ${problem}`);
  return password;
}
