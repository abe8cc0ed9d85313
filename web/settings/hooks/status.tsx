import type { Hook } from "../../api/hooks.ts";
import { Tag } from "../parts.tsx";

/** How a hook fares, in a word. */
export function HookStatus({ hook }: { hook: Hook }) {
  if (!hook.enabled) return <Tag tone="bad">Off</Tag>;
  if (hook.failing_since !== null) return <Tag tone="warn">Failing</Tag>;
  if (hook.paused_until !== null && Date.parse(hook.paused_until) > Date.now())
    return <Tag tone="warn">Paused by the receiver</Tag>;
  return <Tag tone="good">On</Tag>;
}
