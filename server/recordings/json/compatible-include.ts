import type { RecordingIncludeInput } from "../../../contract/recordings.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Config } from "../../platform/config/config.ts";

/** The include of a request, with the names of the original service if the caller's token also uses them. */
export function compatibleInclude<T extends RecordingIncludeInput>(
  { hubspot, ...include }: T,
  { compatibility }: Pick<Principal, "compatibility">,
  config: Pick<Config, "compatibility">,
): RecordingIncludeInput {
  if ((compatibility ?? config.compatibility) !== "hubspot") return include;
  return include.crm || hubspot ? { ...include, crm: true, hubspot: true } : include;
}
