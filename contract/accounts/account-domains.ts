import { z } from "zod";
import { Success, Timestamp } from "../common.ts";
import { operation } from "../operation.ts";

const Domain = z.string().trim().min(1, "must not be blank").max(253);
const DomainParams = z.object({ domain: Domain });

export const EmailDomainClaim = z
  .strictObject({
    domain: z.string().meta({ description: "In lower case; international names in their ASCII form." }),
    state: z.enum(["pending", "claimed"]).meta({
      description: "A pending claim has no effect until its DNS record is verified.",
    }),
    claimed_by: z.enum(["operator", "dns"]).nullable().meta({
      description: "How it was claimed: by the server's operator or by a DNS record. Null while pending.",
    }),
    claimed_datetime: Timestamp.nullable(),
    dns_record: z
      .strictObject({ type: z.literal("TXT"), name: z.string(), value: z.string() })
      .meta({ description: "The DNS record that proves that the workspace controls the domain." }),
  })
  .meta({ id: "EmailDomainClaim" });

const bodyErrors = ["invalid_json", "invalid_input", "body_too_large"] as const;
const base = { tag: "Users and teams", gate: "every_version", permission: "admin" } as const;

export const listEmailDomainClaims = operation({
  ...base,
  id: "listEmailDomainClaims",
  method: "GET",
  path: "/_/api/v1/email-domain-claims",
  summary: "List Email Domain Claims",
  description:
    "Lists the workspace's claimed and pending email domains, by name. Users with an email in a claimed domain can be created in this workspace only, and single sign-on can create their accounts here.",
  response: z.strictObject({ claims: z.array(EmailDomainClaim) }),
  errors: ["forbidden"],
});

export const createEmailDomainClaim = operation({
  ...base,
  id: "createEmailDomainClaim",
  method: "POST",
  path: "/_/api/v1/email-domain-claims",
  summary: "Create Email Domain Claim",
  description:
    "Starts a claim and returns the DNS record that proves it. Repeating the request returns the existing claim. A workspace can have at most 100 claims.",
  body: z.object({ domain: Domain }),
  response: EmailDomainClaim,
  errors: [...bodyErrors, "forbidden", "wrong_state"],
});

export const verifyEmailDomainClaim = operation({
  ...base,
  id: "verifyEmailDomainClaim",
  method: "POST",
  path: "/_/api/v1/email-domain-claims/:domain/verify",
  summary: "Verify Email Domain Claim",
  description:
    "Looks up the DNS record, for at most 10 seconds, and completes the claim. Returns 409 if the record is missing or another workspace owns the domain.",
  params: DomainParams,
  response: EmailDomainClaim,
  errors: ["forbidden", "not_found", "wrong_state"],
});

export const deleteEmailDomainClaim = operation({
  ...base,
  id: "deleteEmailDomainClaim",
  method: "DELETE",
  path: "/_/api/v1/email-domain-claims/:domain",
  summary: "Delete Email Domain Claim",
  description: "Releases the domain. Existing accounts are kept.",
  params: DomainParams,
  response: Success,
  errors: ["forbidden", "not_found"],
});
