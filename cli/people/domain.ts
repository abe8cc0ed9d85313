import { Command } from "commander";
import { chooseWorkspace } from "../../server/people/accounts/service.ts";
import { claimByOperator, releaseClaim } from "../../server/people/accounts/workspaces/claim-domains.ts";
import { findAccountsElsewhere, findClaims } from "../../server/people/accounts/workspaces/email-domains.ts";
import { commandLine } from "../../server/platform/audit/record.ts";
import { printValue, withTransaction } from "../support/with-database.ts";

interface Options {
  domain: string;
  workspace?: string;
}

export function domainCommand(command: Command): Command {
  const claim = new Command("claim")
    .description("claim an email domain for a workspace: users with such an email can be created only there")
    .requiredOption("--domain <domain>", "email domain, such as example.com")
    .option("--workspace <id>", "workspace ID; required if there are several workspaces")
    .action(async (options: Options) => {
      const { domain, others } = await withTransaction(async (tx) => {
        const workspaceId = await chooseWorkspace(tx, options.workspace);
        const claimed = await claimByOperator(tx, workspaceId, options.domain);
        return { domain: claimed, others: await findAccountsElsewhere(tx, workspaceId, claimed) };
      });
      console.error(`claimed ${domain}`);
      for (const { email, email_proven_at, workspace_name } of others)
        console.error(
          email_proven_at === null
            ? `${email} has an account in ${workspace_name}; it will be deactivated when this workspace creates an account for the email`
            : `${email} has an account in ${workspace_name} with a verified email; the account stays there`,
        );
    });
  const release = new Command("release")
    .description("release a workspace's claim of an email domain; accounts are kept")
    .requiredOption("--domain <domain>", "email domain")
    .option("--workspace <id>", "workspace ID; required if there are several workspaces")
    .action(async (options: Options) => {
      await withTransaction(async (tx) =>
        releaseClaim(tx, commandLine(await chooseWorkspace(tx, options.workspace)), options.domain),
      );
      console.error(`released ${options.domain}`);
    });
  const list = new Command("list")
    .description("list claimed email domains: domain, workspace ID, claimed by")
    .option("--json", "print the result as a JSON array")
    .action(async (options: { json?: boolean }) => {
      const claims = await withTransaction((tx) => findClaims(tx));
      const rows = claims.map(({ domain, workspace_id, claimed_by }) => ({
        domain,
        workspace_id,
        claimed_by: claimed_by === "dns" ? "dns" : "operator",
      }));
      const lines = rows.map((row) => [row.domain, row.workspace_id, row.claimed_by].join("\t"));
      printValue(lines.join("\n"), rows, options);
    });
  return command.addCommand(claim).addCommand(release).addCommand(list);
}
