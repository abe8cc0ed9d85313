import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import type { DeliveryState } from "../../api/settings/webhooks.ts";
import { Tag } from "../parts.tsx";

/** Labels of delivery states. */
export const deliveryStates: Readonly<
  Record<DeliveryState, { label: MessageDescriptor; tone?: "good" | "bad" | "accent" }>
> = {
  pending: { label: msg`Pending`, tone: "accent" },
  delivered: { label: msg`Delivered`, tone: "good" },
  exhausted: { label: msg`Failed`, tone: "bad" },
  gone: { label: msg`Gone`, tone: "bad" },
  withheld: { label: msg`Suppressed` },
};

/** The state of a delivery. */
export function DeliveryTag({ state }: { state: DeliveryState }) {
  const { t } = useLingui();
  const { label, tone } = deliveryStates[state];
  return <Tag tone={tone}>{t(label)}</Tag>;
}
