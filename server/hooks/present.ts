import type { z } from "zod";
import type { Hook } from "../../contract/hooks.ts";
import type { HookRow } from "./queries.ts";

/** A hook as the contract shows it. @param secret only right after it was made. */
export function presentHook(row: HookRow, secret?: string): z.input<typeof Hook> {
  return {
    id: row.id,
    enabled: row.disabled_at === null,
    hook_url: row.hook_url,
    hook_type: row.hook_type,
    include: row.include,
    inserted_at: row.inserted_at.toISOString(),
    ...(secret === undefined ? {} : { secret }),
  };
}
