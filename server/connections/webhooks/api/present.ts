import type { z } from "zod";
import { sentences } from "../../../../contract/sentences.ts";
import type { Hook } from "../../../../contract/webhooks/hooks.ts";
import type { HookRow } from "./queries.ts";

/** Whether events are sent to a hook: it is enabled and its token has not expired. */
export function isOn(row: Pick<HookRow, "disabled_at" | "access_until">, now: Date): boolean {
  return row.disabled_at === null && (row.access_until === null || row.access_until > now);
}

/** Why a hook is disabled. */
export function disabledReason(row: Pick<HookRow, "disabled_at" | "disabled_reason">): string {
  if (row.disabled_at === null) return sentences.hook_token_expired;
  return row.disabled_reason ?? sentences.hook_unknown;
}

/** A hook as the contract shows it. @param secret only in the response that creates it. */
export function presentHook(row: HookRow, secret?: string): z.input<typeof Hook> {
  return {
    id: row.id,
    enabled: isOn(row, new Date()),
    hook_url: row.hook_url,
    hook_type: row.hook_type,
    include: row.include,
    inserted_at: row.inserted_at.toISOString(),
    ...(secret === undefined ? {} : { secret }),
  };
}
