import type { RecordingIncludeInput } from "../../../../contract/recordings/recordings.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Config } from "../../../platform/config/config.ts";

/** The include of a request, with the names of the original service if the caller's token also uses them. */
export function compatibleInclude<T extends RecordingIncludeInput>(
  { hubspot, ...include }: T,
  { compatibility }: Pick<Principal, "compatibility">,
  config: Pick<Config, "compatibility">,
): RecordingIncludeInput {
  if ((compatibility ?? config.compatibility) !== "hubspot") return include;
  return include.crm || hubspot ? { ...include, crm: true, hubspot: true } : include;
}

/** Why `hubspot` is missing in the response of a caller who asked for it; null otherwise. */
export function explainIgnored(
  { hubspot }: RecordingIncludeInput,
  { compatibility }: Pick<Principal, "compatibility">,
  config: Pick<Config, "compatibility">,
): string | null {
  return hubspot && (compatibility ?? config.compatibility) !== "hubspot"
    ? "include.hubspot is ignored; use include.crm, or a token or app with compatibility=hubspot"
    : null;
}
