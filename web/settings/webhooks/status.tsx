import { Trans } from "@lingui/react/macro";
import type { Hook } from "../../api/settings/webhooks.ts";
import { Tag } from "../parts.tsx";

/** The status of a webhook. */
export function WebhookStatus({ hook }: { hook: Hook }) {
  if (!hook.enabled)
    return (
      <Tag tone="bad">
        <Trans>Disabled</Trans>
      </Tag>
    );
  if (hook.failing_since !== null)
    return (
      <Tag tone="warn">
        <Trans>Failing</Trans>
      </Tag>
    );
  if (hook.paused_until !== null && Date.parse(hook.paused_until) > Date.now())
    return (
      <Tag tone="warn">
        <Trans>Paused by the receiver</Trans>
      </Tag>
    );
  return (
    <Tag tone="good">
      <Trans>Enabled</Trans>
    </Tag>
  );
}
