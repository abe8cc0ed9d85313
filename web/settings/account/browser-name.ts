import { t } from "@lingui/core/macro";
import { knownBrowser } from "../../../shared/browser-name.ts";

/** A browser's common name; for unknown browsers, the start of the user agent. */
export function browserName(userAgent: string): string {
  const known = knownBrowser(userAgent);
  if (known === null) return userAgent.trim().slice(0, 60) || t`Unknown browser`;
  const { browser, system } = known;
  return system === null ? browser : t`${browser} on ${system}`;
}
