import { type Config, ConfigError } from "../config.ts";
import { parseRanges } from "./addresses.ts";
import { createHookSender, type HookSender } from "./send.ts";

/**
 * The sender that the settings mean.
 * @throws ConfigError when PARLEY_HOOKS_ALLOW_ADDRESSES holds what is no range.
 */
export function openHookSender(config: Pick<Config, "hooksAllowAddresses">): HookSender {
  try {
    return createHookSender({ allowAddresses: parseRanges(config.hooksAllowAddresses) });
  } catch (error) {
    throw new ConfigError(`wrong setting: PARLEY_HOOKS_ALLOW_ADDRESSES: ${(error as Error).message}`);
  }
}
