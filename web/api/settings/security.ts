import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import * as contract from "../../../contract/accounts/security.ts";
import { call } from "../client/call.ts";
import { textOfCause } from "../client/cause-texts.ts";

export type WorkspaceSecurity = z.output<typeof contract.getWorkspaceSecurity.response>;
type RulesChange = z.input<typeof contract.updateWorkspaceSecurity.body>;
export type Rules = contract.SecurityRules;
export type SecurityPreview = z.output<typeof contract.previewWorkspaceSecurity.response>;

export const securityQuery = queryOptions({
  queryKey: ["security"],
  queryFn: ({ signal }) => call(contract.getWorkspaceSecurity, { signal }),
});

export const updateSecurity = (body: RulesChange) => call(contract.updateWorkspaceSecurity, { body });

export async function previewSecurity(body: RulesChange) {
  const preview = await call(contract.previewWorkspaceSecurity, { body });
  if (preview.refuses_you === null) return preview;
  return { ...preview, refuses_you: await textOfCause(preview.refuses_you_cause, preview.refuses_you) };
}
