import { Command } from "commander";
import { sql } from "kysely";
import type { Compatibility, DatetimeFilters } from "../../contract/common.ts";
import { AccountError, chooseWorkspace, findAnyUser } from "../../server/people/accounts/service.ts";
import { lockManagedGrant, updateManagedGrant } from "../../server/people/oauth/clients/grants.ts";
import { getGrant, listGrants } from "../../server/people/oauth/clients/management-queries.ts";
import { presentGrant } from "../../server/people/oauth/clients/management-routes.ts";
import { commandLine } from "../../server/platform/audit/record.ts";
import { compatibilityOption, datetimeFiltersOption } from "../support/options.ts";
import { readToolConfig, withTransaction } from "../support/with-database.ts";

/** More authorizations than any workspace has. */
const maxGrants = 100_000;

export function oauthGrantCommand(command: Command): Command {
  const list = new Command("list")
    .description("print the apps that users have authorized as JSON, newest first")
    .option("--email <email>", "only apps that this user has authorized")
    .option("--workspace <id>", "workspace ID; required if there are several workspaces")
    .action(async (options: { email?: string; workspace?: string }) => {
      const setting = readToolConfig();
      const grants = await withTransaction(async (tx) => {
        const by =
          options.email === undefined
            ? { workspaceId: await chooseWorkspace(tx, options.workspace) }
            : { userId: (await findAnyUser(tx, options.email)).id };
        return listGrants(tx, by, { after: null, limit: maxGrants });
      });
      print(grants.map((grant) => presentGrant(grant, setting)));
    });
  const update = new Command("update")
    .description("change how an app that registered itself reads date filters and names CRM data for a user")
    .argument("<id>", "ID from oauth-grant list")
    .addOption(datetimeFiltersOption({ isNew: false }))
    .addOption(compatibilityOption({ isNew: false }))
    .action(async (id: string, options: { datetimeFilters?: DatetimeFilters; compat?: Compatibility }) => {
      if (options.datetimeFilters === undefined && options.compat === undefined)
        throw new AccountError("choose what to change: --datetime-filters or --compat");
      const setting = readToolConfig();
      const changed = await withTransaction(async (tx) => {
        const owner = await tx
          .selectFrom("oauth_grants as g")
          .innerJoin("users as u", "u.id", "g.user_id")
          .select("u.workspace_id")
          .where(sql<string>`g.id::text`, "=", id.toLowerCase())
          .executeTakeFirst();
        if (owner === undefined)
          throw new AccountError(`authorization ${id} does not exist; see parley oauth-grant list`);
        const { workspace_id: workspaceId } = owner;
        const grant = await lockManagedGrant(tx, { workspaceId }, id);
        await updateManagedGrant(tx, commandLine(workspaceId), grant, {
          datetime_filters: options.datetimeFilters,
          compatibility: options.compat,
        });
        return getGrant(tx, grant.id);
      });
      print(presentGrant(changed, setting));
    });
  return command.addCommand(list).addCommand(update);
}

function print(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
