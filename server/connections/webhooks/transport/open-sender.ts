import type { Config } from "../../../platform/config/config.ts";
import { allowedRanges } from "../../../platform/outbound/address-ranges.ts";
import { createHookSender, type HookSender } from "./send.ts";

/** Creates the sender that the settings describe, also after they change. */
export function openHookSender(config: Pick<Config, "hooksAllowAddresses">): HookSender {
  return createHookSender({ allowAddresses: allowedRanges(config) });
}
