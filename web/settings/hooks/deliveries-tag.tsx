import type { DeliveryState } from "../../api/hooks.ts";
import { Tag } from "../parts.tsx";

/** What can become of a delivery. */
export const deliveryStates: Readonly<
  Record<DeliveryState, { label: string; tone?: "good" | "bad" | "accent" }>
> = {
  pending: { label: "Waiting", tone: "accent" },
  delivered: { label: "Delivered", tone: "good" },
  exhausted: { label: "Failed", tone: "bad" },
  gone: { label: "Gone", tone: "bad" },
  withheld: { label: "Withheld" },
};

/** What became of a delivery, in a word. */
export function DeliveryTag({ state }: { state: DeliveryState }) {
  const { label, tone } = deliveryStates[state];
  return <Tag tone={tone}>{label}</Tag>;
}
