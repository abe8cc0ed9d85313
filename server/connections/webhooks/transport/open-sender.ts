import { type Config, ConfigError } from "../../../platform/config/config.ts";
import { parseRanges } from "../../../platform/outbound/address-ranges.ts";
import { createHookSender, type HookSender } from "./send.ts";

/**
 * Creates the sender that the configuration describes.
 * @throws ConfigError if PARLEY_HOOKS_ALLOW_ADDRESSES contains an invalid IP range.
 */
export function openHookSender(config: Pick<Config, "hooksAllowAddresses">): HookSender {
  try {
    return createHookSender({ allowAddresses: parseRanges(config.hooksAllowAddresses) });
  } catch (error) {
    throw new ConfigError(`invalid setting: PARLEY_HOOKS_ALLOW_ADDRESSES: ${(error as Error).message}`);
  }
}
