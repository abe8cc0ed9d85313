import type { deliveryStates } from "../../../contract/webhooks/hook-management.ts";

export type DeliveryState = (typeof deliveryStates)[number];

/**
 * The states of a delivery and everything that changes them. A delivery is created as `pending`. Only this folder and
 * `webhooks/deliveries/` write to the tables `deliveries` and `delivery_attempts`; the rest of the server calls their functions.
 *
 * | Transition | Function            | When                                                                        |
 * |------------|---------------------|-----------------------------------------------------------------------------|
 * | deliver    | saveResults         | The receiver responded with 2xx.                                            |
 * | retry      | saveResults         | An attempt failed; another one follows.                                     |
 * | exhaust    | saveResults         | The last attempt failed.                                                    |
 * | end        | saveResults         | The receiver responded with 410; the hook is disabled.                      |
 * | skip       | saveResults         | Before an attempt, the hook's owner can't see the subject, or it is restored. |
 * | suppress   | suppressDeliveries  | The subject was deleted, or personal data in it erased. Never sent again.   |
 * | requeue    | requeueDelivery, replay | A user resends it or replays its event.                                 |
 */
export const transitions = {
  deliver: { from: ["pending"], to: "delivered" },
  retry: { from: ["pending"], to: "pending" },
  exhaust: { from: ["pending"], to: "exhausted" },
  end: { from: ["pending"], to: "gone" },
  skip: { from: ["pending"], to: "withheld" },
  suppress: { from: ["pending"], to: "withheld" },
  requeue: { from: ["pending", "delivered", "exhausted", "gone"], to: "pending" },
} as const satisfies Record<string, { from: readonly DeliveryState[]; to: DeliveryState }>;

export type Transition = keyof typeof transitions;

/** Whether a delivery in this state can make the transition. */
export function allows(state: DeliveryState, transition: Transition): boolean {
  const from: readonly DeliveryState[] = transitions[transition].from;
  return from.includes(state);
}

/**
 * The same as SQL.
 * @param alias of the table `deliveries`.
 */
export function allowsSql(alias: string, transition: Transition): string {
  return `${alias}.state in (${transitions[transition].from.map((state) => `'${state}'`).join(", ")})`;
}
