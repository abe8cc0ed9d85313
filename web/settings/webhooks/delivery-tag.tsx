import type { DeliveryState } from "../../api/settings/webhooks.ts";
import { Tag } from "../parts.tsx";

/** Labels of delivery states. */
export const deliveryStates: Readonly<
  Record<DeliveryState, { label: string; tone?: "good" | "bad" | "accent" }>
> = {
  pending: { label: "Pending", tone: "accent" },
  delivered: { label: "Delivered", tone: "good" },
  exhausted: { label: "Failed", tone: "bad" },
  gone: { label: "Gone", tone: "bad" },
  withheld: { label: "Suppressed" },
};

/** The state of a delivery. */
export function DeliveryTag({ state }: { state: DeliveryState }) {
  const { label, tone } = deliveryStates[state];
  return <Tag tone={tone}>{label}</Tag>;
}
