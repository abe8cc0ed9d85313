import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type * as contract from "../../../contract/accounts/account-domains.ts";
import { call, path } from "../client.ts";

export type DomainClaim = z.output<typeof contract.EmailDomainClaim>;

export const domainClaimsQuery = queryOptions({
  queryKey: ["email domain claims"],
  queryFn: ({ signal }) =>
    call<typeof contract.listEmailDomainClaims>("GET", "/_/api/v1/email-domain-claims", { signal }),
});

export const createDomainClaim = (domain: string) =>
  call<typeof contract.createEmailDomainClaim>("POST", "/_/api/v1/email-domain-claims", { body: { domain } });

export const verifyDomainClaim = (domain: string) =>
  call<typeof contract.verifyEmailDomainClaim>("POST", path`/_/api/v1/email-domain-claims/${domain}/verify`);

export const deleteDomainClaim = (domain: string) =>
  call<typeof contract.deleteEmailDomainClaim>("DELETE", path`/_/api/v1/email-domain-claims/${domain}`);
