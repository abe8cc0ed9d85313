import type { z } from "zod";
import * as contract from "../../../../contract/accounts/account-domains.ts";
import { actorOf } from "../../../platform/audit/record.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Database } from "../../../platform/db/database.ts";
import { type Api, route } from "../../../platform/http/routing/route.ts";
import { keyOf, takeAttempt, tooManyAttempts } from "../sign-in/throttle.ts";
import { releaseClaim, startClaim, verifyClaim } from "./claim-domains.ts";
import { type DomainClaim, dnsRecordOf, findClaims } from "./email-domains.ts";

/** Every lookup sends queries to the DNS, so a workspace gets a burst of ten and then one a minute. */
const lookupLimit = { free: 10, leakSec: 60 };

/** Email domains that the workspace claims. */
export function domainRoutes(
  api: Api,
  { db, config }: { readonly db: Database; readonly config: Pick<Config, "dnsServers"> },
): void {
  route(api, contract.listEmailDomainClaims, async ({ principal }) => ({
    claims: (await findClaims(db.kysely, principal.workspaceId)).map(present),
  }));

  route(api, contract.createEmailDomainClaim, async ({ request, body }) =>
    present(await db.kysely.transaction().execute((tx) => startClaim(tx, actorOf(request), body.domain))),
  );

  route(api, contract.verifyEmailDomainClaim, async ({ principal, request, params }) => {
    const key = keyOf("domain lookup", principal.workspaceId);
    const waitSec = await takeAttempt(db, [{ key, ...lookupLimit }]);
    if (waitSec > 0) throw tooManyAttempts(waitSec);
    return present(await verifyClaim(db, actorOf(request), params.domain, config.dnsServers));
  });

  route(api, contract.deleteEmailDomainClaim, async ({ request, params }) => {
    await db.kysely.transaction().execute((tx) => releaseClaim(tx, actorOf(request), params.domain));
    return { success: true as const };
  });
}

function present(claim: DomainClaim): z.output<typeof contract.EmailDomainClaim> {
  const { claimed_by, claimed_at } = claim;
  return {
    domain: claim.domain,
    state: claimed_at === null ? "pending" : "claimed",
    claimed_by: claimed_at === null ? null : claimed_by === "workspace_create" ? "operator" : claimed_by,
    claimed_datetime: claimed_at?.toISOString() ?? null,
    dns_record: dnsRecordOf(claim),
  };
}
