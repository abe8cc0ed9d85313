import { Command } from "commander";
import type { Compatibility, DatetimeFilters } from "../../contract/common.ts";
import { AccountError, chooseWorkspace } from "../../server/people/accounts/service.ts";
import { createClient, deleteClient, findUriViolations } from "../../server/people/oauth/clients/clients.ts";
import { listClients } from "../../server/people/oauth/clients/management-queries.ts";
import { presentClient } from "../../server/people/oauth/clients/management-routes.ts";
import { findClient } from "../../server/people/oauth/clients/queries.ts";
import { deleteSelfRegistered } from "../../server/people/oauth/clients/self-registered/store.ts";
import { commandLine } from "../../server/platform/audit/record.ts";
import { collect, compatibilityOption, datetimeFiltersOption } from "../support/options.ts";
import { readToolConfig, withTransaction } from "../support/with-database.ts";

interface CreateOptions {
  name: string;
  redirectUri: string[];
  corsOrigin: string[];
  public?: boolean;
  legacy?: boolean;
  workspace?: string;
  datetimeFilters?: DatetimeFilters;
  compat?: Compatibility;
}

/** More apps than any workspace has. */
const maxApps = 10_000;

export function oauthClientCommand(command: Command): Command {
  const create = new Command("create")
    .description(
      "register an app; prints JSON with its client_id and its client_secret, which is not shown again",
    )
    .requiredOption("--name <name>", "name shown to users on the authorization page")
    .requiredOption("--redirect-uri <uri>", "allowed redirect URI; can be repeated", collectSome)
    .option(
      "--public",
      "public client: it runs in a browser, on a phone or on a desktop and can't keep a secret",
    )
    .option("--legacy", "issue access tokens that don't expire, and no refresh tokens")
    .option(
      "--cors-origin <origin>",
      "origin that may request tokens from a browser; can be repeated",
      collect,
      [],
    )
    .addOption(datetimeFiltersOption())
    .addOption(compatibilityOption())
    .option("--workspace <id>", "workspace ID; required if there are several workspaces")
    .action(async (options: CreateOptions) => {
      const setting = readToolConfig();
      const isPublic = options.public ?? false;
      const name = options.name.trim();
      if (name === "" || name.length > 100) throw new AccountError("--name must have 1 to 100 characters");
      const [violation] = findUriViolations(
        { redirect_uris: options.redirectUri, cors_origins: options.corsOrigin },
        { isPublic, schemes: setting.oauthRedirectSchemes },
      );
      if (violation !== undefined) throw new AccountError(describe(violation, options));
      const { client, secret } = await withTransaction(async (tx) =>
        createClient(tx, commandLine(await chooseWorkspace(tx, options.workspace)), {
          name,
          redirectUris: options.redirectUri,
          corsOrigins: options.corsOrigin,
          isPublic,
          isLegacy: options.legacy ?? false,
          datetimeFilters: options.datetimeFilters ?? setting.datetimeFilters,
          compatibility: options.compat ?? setting.compatibility,
        }),
      );
      print({ ...presentClient(client, setting), client_secret: secret });
    });
  const list = new Command("list")
    .description("print the registered apps as JSON, newest first")
    .option("--workspace <id>", "workspace ID; required if there are several workspaces")
    .action(async (options: { workspace?: string }) => {
      const clients = await withTransaction(async (tx) =>
        listClients(tx, await chooseWorkspace(tx, options.workspace), { after: null, limit: maxApps }),
      );
      const setting = readToolConfig();
      print(clients.map((client) => presentClient(client, setting)));
    });
  const remove = new Command("delete")
    .description("delete an app and revoke all its tokens")
    .argument("<client_id>")
    .action((clientId: string) =>
      withTransaction(async (tx) => {
        const client = await findClient(tx, clientId);
        if (client === undefined)
          throw new AccountError(`app ${clientId} does not exist; see parley oauth-client list`);
        if (client.workspace_id === null) await deleteSelfRegistered(tx, client.id);
        else await deleteClient(tx, commandLine(client.workspace_id), client.id);
      }),
    );
  return command.addCommand(create).addCommand(list).addCommand(remove);
}

/** Has no default value, so that commander requires at least one. */
function collectSome(value: string, earlier: string[] | undefined): string[] {
  return collect(value, earlier ?? []);
}

function print(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** Names the option instead of the JSON pointer. */
function describe(violation: { pointer: string; detail: string }, options: CreateOptions): string {
  const [, name, index] = violation.pointer.split("/");
  return name === "redirect_uris"
    ? `--redirect-uri ${options.redirectUri[Number(index)]} ${violation.detail}`
    : `--cors-origin ${options.corsOrigin[Number(index)]} ${violation.detail}`;
}
