import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import * as contract from "../../../contract/accounts/account-domains.ts";
import { call } from "../client/call.ts";

export type DomainClaim = z.output<typeof contract.EmailDomainClaim>;

export const domainClaimsQuery = queryOptions({
  queryKey: ["email domain claims"],
  queryFn: ({ signal }) => call(contract.listEmailDomainClaims, { signal }),
});

export const createDomainClaim = (domain: string) =>
  call(contract.createEmailDomainClaim, { body: { domain } });

export const verifyDomainClaim = (domain: string) =>
  call(contract.verifyEmailDomainClaim, { params: { domain } });

export const deleteDomainClaim = (domain: string) =>
  call(contract.deleteEmailDomainClaim, { params: { domain } });
