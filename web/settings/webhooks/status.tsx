import type { Hook } from "../../api/settings/webhooks.ts";
import { Tag } from "../parts.tsx";

/** The status of a webhook. */
export function WebhookStatus({ hook }: { hook: Hook }) {
  if (!hook.enabled) return <Tag tone="bad">Disabled</Tag>;
  if (hook.failing_since !== null) return <Tag tone="warn">Failing</Tag>;
  if (hook.paused_until !== null && Date.parse(hook.paused_until) > Date.now())
    return <Tag tone="warn">Paused by the receiver</Tag>;
  return <Tag tone="good">Enabled</Tag>;
}
