import { text } from "node:stream/consumers";
import { Command, Option } from "commander";
import { type Role, roles } from "../server/access/principal.ts";
import { passwordFault } from "../server/accounts/password-rules.ts";
import {
  changeUser,
  deactivateUser,
  inviteUser,
  makeResetLink,
  reactivateUser,
} from "../server/accounts/people.ts";
import { findPeople, stateOf } from "../server/accounts/people-queries.ts";
import { AccountError, chooseWorkspace, createUser, findAnyUser } from "../server/accounts/service.ts";
import { type AuditActor, commandLine, recordAudit } from "../server/audit/record.ts";
import type { Tx } from "../server/db/database.ts";
import { printValue, withDatabase, withTransaction } from "./with-database.ts";

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
      const password = options.passwordStdin ? await readPassword(options.email) : undefined;
      const { id } = await withTransaction(async (tx) => {
        const workspaceId = await chooseWorkspace(tx, options.workspace);
        const made = await createUser(tx, {
          workspaceId,
          email: options.email,
          name: options.name,
          role: options.role,
          ...(password === undefined ? {} : { password }),
        });
        await recordAudit(tx, commandLine(workspaceId), {
          action: "user_created",
          subject: { type: "user", id: made.id },
          details: { email: options.email, role: options.role },
        });
        return made;
      });
      printValue(id, { id, email: options.email, role: options.role }, options);
    });
  return new Command("user")
    .description("users")
    .addCommand(create)
    .addCommand(inviteCommand())
    .addCommand(listCommand())
    .addCommand(resetPasswordCommand())
    .addCommand(
      changeCommand("deactivate", "end a user's access at once; recordings stay", async (tx, actor, user) => {
        const { sessions, tokens } = await deactivateUser(tx, actor, user.id);
        return `ended ${sessions} sessions and ${tokens} tokens`;
      }),
    )
    .addCommand(
      changeCommand("reactivate", "let a deactivated user in again", async (tx, actor, user) => {
        await reactivateUser(tx, actor, user.id);
        return "sessions and tokens stay ended";
      }),
    )
    .addCommand(roleCommand());
}

function inviteCommand(): Command {
  return new Command("invite")
    .description(
      "make a user and a link, good for seven days, by which they choose a password; prints the link",
    )
    .requiredOption("--email <email>", "primary email")
    .requiredOption("--name <name>", "full name")
    .option("--workspace <id>", "workspace; needed when there are several")
    .addOption(new Option("--role <role>", "what the user may do").choices([...roles]).default("member"))
    .option("--json", "print a JSON object")
    .action(async (options: Options) => {
      const { id, link } = await withDatabase((db, config) =>
        db.kysely
          .transaction()
          .execute(async (tx) =>
            inviteUser(
              tx,
              commandLine(await chooseWorkspace(tx, options.workspace)),
              { baseUrl: config.baseUrl, mail: null },
              { ...options, teamIds: [], inviter: "The operator" },
            ),
          ),
      );
      printValue(link.url, { id, url: link.url, expires_at: link.expiresAt.toISOString() }, options);
    });
}

function listCommand(): Command {
  return new Command("list")
    .description("list the users of a workspace: email, role, state, last sign-in")
    .option("--workspace <id>", "workspace; needed when there are several")
    .option("--json", "print a JSON array")
    .action(async (options: { workspace?: string; json?: boolean }) => {
      const people = await withTransaction(async (tx) =>
        findPeople(tx, await chooseWorkspace(tx, options.workspace)),
      );
      const rows = people.map((person) => ({
        id: person.id,
        email: person.email,
        name: person.name,
        role: person.role,
        state: stateOf(person),
        last_signed_in: person.last_signed_in_at?.toISOString() ?? null,
      }));
      const lines = rows.map((row) => [row.email, row.role, row.state, row.last_signed_in ?? "-"].join("\t"));
      printValue(lines.join("\n"), rows, options);
    });
}

function resetPasswordCommand(): Command {
  return new Command("reset-password")
    .description("make a link, good for a day, by which a user chooses a new password; prints it")
    .requiredOption("--email <email>", "the user")
    .option("--json", "print a JSON object")
    .action(async (options: { email: string; json?: boolean }) => {
      const link = await withDatabase((db, config) =>
        db.kysely.transaction().execute(async (tx) => {
          const user = await findAnyUser(tx, options.email);
          const deps = { baseUrl: config.baseUrl, mail: null };
          return makeResetLink(tx, commandLine(user.workspace_id), deps, user.id);
        }),
      );
      printValue(link.url, { url: link.url, expires_at: link.expiresAt.toISOString() }, options);
    });
}

function roleCommand(): Command {
  return new Command("role")
    .description("give a user another role")
    .requiredOption("--email <email>", "the user")
    .addOption(new Option("--role <role>", "what the user may do").choices([...roles]).makeOptionMandatory())
    .action(async (options: { email: string; role: Role }) => {
      const revoked = await withTransaction(async (tx) => {
        const user = await findAnyUser(tx, options.email);
        return changeUser(tx, commandLine(user.workspace_id), user.id, { role: options.role });
      });
      console.error(`${options.email} is ${options.role} now; revoked ${revoked} workspace tokens`);
    });
}

/** A command that does one thing to one user and says in words how it went. */
function changeCommand(
  name: string,
  description: string,
  change: (tx: Tx, actor: AuditActor, user: { id: string }) => Promise<string>,
): Command {
  return new Command(name)
    .description(description)
    .requiredOption("--email <email>", "the user")
    .action(async (options: { email: string }) => {
      const words = await withTransaction(async (tx) => {
        const user = await findAnyUser(tx, options.email);
        return change(tx, commandLine(user.workspace_id), user);
      });
      console.error(`${name}d ${options.email}; ${words}`);
    });
}

async function readPassword(email: string): Promise<string> {
  const password = (await text(process.stdin)).replace(/\r?\n$/, "");
  const fault = passwordFault(password, email);
  if (fault !== null) throw new AccountError(`the password on standard input ${fault}`);
  return password;
}
