import { Command } from "commander";
import { AccountError, chooseWorkspace } from "../server/accounts/service.ts";
import { commandLine } from "../server/audit/record.ts";
import { findClient } from "../server/oauth/client-queries.ts";
import { createClient, deleteClient, findAddressFaults } from "../server/oauth/clients.ts";
import { listClients } from "../server/oauth/management-queries.ts";
import { presentClient } from "../server/oauth/management-routes.ts";
import { collect } from "./options.ts";
import { withTransaction } from "./with-database.ts";

interface CreateOptions {
  name: string;
  redirectUri: string[];
  corsOrigin: string[];
  public?: boolean;
  legacy?: boolean;
  workspace?: string;
}

/** More apps than a workspace has. */
const all = 10_000;

export function oauthClientCommand(): Command {
  const create = new Command("create")
    .description(
      "register an app; prints JSON with its client_id and, once and never again, its client_secret",
    )
    .requiredOption("--name <name>", "what people read when they are asked to let it in")
    .requiredOption("--redirect-uri <uri>", "where the answer may go; may be repeated", collectSome)
    .option("--public", "it can keep no secret: it runs in a browser, on a phone or on a desktop")
    .option("--legacy", "its access tokens don't expire, and it gets no refresh tokens")
    .option("--cors-origin <origin>", "pages of this origin may ask for tokens; may be repeated", collect, [])
    .option("--workspace <id>", "workspace; needed when there are several")
    .action(async (options: CreateOptions) => {
      const isPublic = options.public ?? false;
      const name = options.name.trim();
      if (name === "" || name.length > 100)
        throw new AccountError("an app needs a name of at most 100 characters");
      const [fault] = findAddressFaults(
        { redirect_uris: options.redirectUri, cors_origins: options.corsOrigin },
        isPublic,
      );
      if (fault !== undefined) throw new AccountError(describe(fault, options));
      const { client, secret } = await withTransaction(async (tx) =>
        createClient(tx, commandLine(await chooseWorkspace(tx, options.workspace)), {
          name,
          redirectUris: options.redirectUri,
          corsOrigins: options.corsOrigin,
          isPublic,
          isLegacy: options.legacy ?? false,
        }),
      );
      print({ ...presentClient(client), client_secret: secret });
    });
  const list = new Command("list")
    .description("print the registered apps as JSON, newest first")
    .option("--workspace <id>", "workspace; needed when there are several")
    .action(async (options: { workspace?: string }) => {
      const clients = await withTransaction(async (tx) =>
        listClients(tx, await chooseWorkspace(tx, options.workspace), { after: null, limit: all }),
      );
      print(clients.map(presentClient));
    });
  const remove = new Command("delete")
    .description("remove an app; all its tokens end at once")
    .argument("<client_id>")
    .action((clientId: string) =>
      withTransaction(async (tx) => {
        const client = await findClient(tx, clientId);
        if (client === undefined) throw new AccountError(`there is no app ${clientId}`);
        await deleteClient(tx, commandLine(client.workspace_id), client.id);
      }),
    );
  return new Command("oauth-client")
    .description("apps that people can let in")
    .addCommand(create)
    .addCommand(list)
    .addCommand(remove);
}

/** Without a default, so that at least one is required. */
function collectSome(value: string, earlier: string[] | undefined): string[] {
  return collect(value, earlier ?? []);
}

function print(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** A fault's place in a body says nothing to somebody at a terminal. */
function describe(fault: { pointer: string; detail: string }, options: CreateOptions): string {
  const [, name, index] = fault.pointer.split("/");
  return name === "redirect_uris"
    ? `--redirect-uri ${options.redirectUri[Number(index)]} ${fault.detail}`
    : `--cors-origin ${options.corsOrigin[Number(index)]} ${fault.detail}`;
}
