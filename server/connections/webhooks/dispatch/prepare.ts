import type { FastifyBaseLogger } from "fastify";
import { sentences } from "../../../../contract/sentences.ts";
import { isConnectionError } from "../../../platform/db/connection-errors.ts";
import type { HookRow } from "../api/queries.ts";
import type { DueDelivery } from "../deliveries/due.ts";
import type { DeliveryResult } from "../deliveries/save-results.ts";
import { type PayloadDependencies, renderPayloads } from "./render-payload.ts";

interface PrepareDependencies extends PayloadDependencies {
  readonly log: Pick<FastifyBaseLogger, "error">;
}

/** A delivery with its body, or with the reason why there is none. */
export type PreparedDelivery =
  | {
      readonly delivery: DueDelivery;
      readonly body: string;
      readonly problem: null;
    }
  | { readonly delivery: DueDelivery; readonly body: null; readonly problem: string };

const notSent = { state: "withheld", due_at: null, payload: null, attempt: null } as const;

/** Renders what is to be sent. Deliveries are suppressed whose subject was deleted or is hidden from the hook's owner. */
export async function prepare(
  deps: PrepareDependencies,
  hook: HookRow,
  due: readonly DueDelivery[],
): Promise<{ prepared: PreparedDelivery[]; suppressed: DeliveryResult[] }> {
  const fresh = due.filter((delivery) => delivery.can_receive && delivery.payload === null);
  const rendered = fresh.length === 0 ? new Map<string, string | null>() : await render(deps, hook, fresh);
  const bodyOf = (delivery: DueDelivery): string | null | undefined =>
    delivery.can_receive ? (delivery.payload ?? rendered.get(delivery.id)) : null;
  const prepared: PreparedDelivery[] = [];
  const suppressed: DeliveryResult[] = [];
  for (const delivery of due) {
    const body = bodyOf(delivery);
    if (body === undefined) prepared.push({ delivery, body: null, problem: sentences.hook_not_rendered });
    else if (body !== null) prepared.push({ delivery, body, problem: null });
    else suppressed.push({ ...notSent, id: delivery.id });
  }
  return { prepared, suppressed };
}

/** @returns bodies by delivery id; none for a delivery that can't be rendered, so that it doesn't hold up the others. */
async function render(
  deps: PrepareDependencies,
  hook: HookRow,
  fresh: readonly DueDelivery[],
): Promise<Map<string, string | null>> {
  try {
    return await renderPayloads(deps, hook, fresh);
  } catch (error) {
    // A lost database connection says nothing about the delivery.
    if (isConnectionError(error)) throw error;
    const [only] = fresh;
    if (fresh.length === 1) {
      deps.log.error(
        { err: error, hookId: hook.id, deliveryId: only?.message_id },
        "could not render the payload of a webhook delivery",
      );
      return new Map();
    }
    const rendered = new Map<string, string | null>();
    for (const delivery of fresh)
      for (const [id, body] of await render(deps, hook, [delivery])) rendered.set(id, body);
    return rendered;
  }
}
