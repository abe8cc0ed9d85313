import type { FastifyBaseLogger } from "fastify";
import { isConnectionError } from "../db/database.ts";
import type { DueDelivery } from "./due-queries.ts";
import { type PayloadDependencies, renderPayloads } from "./payloads.ts";
import type { HookRow } from "./queries.ts";
import type { Settlement } from "./settlement.ts";

interface PrepareDependencies extends PayloadDependencies {
  readonly gate: <T>(work: () => Promise<T>) => Promise<T>;
  readonly log: Pick<FastifyBaseLogger, "error">;
}

/** A delivery that is ready to be sent, or can't be. */
export type Prepared =
  | {
      readonly delivery: DueDelivery;
      /** As UTF-8, for the signature, the request and the log. */
      readonly body: Buffer;
      readonly problem: null;
    }
  /** Why there is nothing to send. */
  | { readonly delivery: DueDelivery; readonly body: null; readonly problem: string };

const nothingSent = { state: "withheld", due_at: null, payload: null, attempt: null } as const;

const notRendered = "nothing was sent: the payload could not be made; the server's log says why";

/** Renders what is to be sent. What the owner may not hear of any more, and what is gone, is withheld for good. */
export async function prepare(
  deps: PrepareDependencies,
  hook: HookRow,
  due: readonly DueDelivery[],
): Promise<{ prepared: Prepared[]; withheld: Settlement[] }> {
  const fresh = due.filter((delivery) => delivery.may_hear && delivery.payload === null);
  const rendered = fresh.length === 0 ? new Map<string, string | null>() : await render(deps, hook, fresh);
  const bodyOf = (delivery: DueDelivery): string | null | undefined =>
    delivery.may_hear ? (delivery.payload ?? rendered.get(delivery.id)) : null;
  const encode = encoder(due.map(bodyOf));
  const prepared: Prepared[] = [];
  const withheld: Settlement[] = [];
  for (const delivery of due) {
    const body = bodyOf(delivery);
    if (body === undefined) prepared.push({ delivery, body: null, problem: notRendered });
    else if (body !== null) prepared.push({ delivery, body: encode(body), problem: null });
    else withheld.push({ ...nothingSent, id: delivery.id, batch_id: delivery.batch_id });
  }
  return { prepared, withheld };
}

/**
 * Encodes texts into one piece of memory for them all. As strings they would wait in the heap, where the garbage
 * collector copies what lives for milliseconds: that took a tenth of the time of sending.
 */
function encoder(texts: readonly (string | null | undefined)[]): (text: string) => Buffer {
  const memory = Buffer.allocUnsafeSlow(
    texts.reduce((bytes, text) => bytes + (text ? Buffer.byteLength(text) : 0), 0),
  );
  let end = 0;
  return (text) => {
    const start = end;
    end += memory.write(text, start);
    return memory.subarray(start, end);
  };
}

/** @returns bodies by delivery id; nothing for one that can't be rendered, which is no reason to hold up the others. */
async function render(
  { gate, ...deps }: PrepareDependencies,
  hook: HookRow,
  fresh: readonly DueDelivery[],
): Promise<Map<string, string | null>> {
  try {
    return await gate(() => renderPayloads(deps, hook, fresh));
  } catch (error) {
    // Without a database nothing can be sent, which says nothing about the delivery.
    if (isConnectionError(error)) throw error;
    const [only] = fresh;
    if (fresh.length === 1) {
      deps.log.error(
        { err: error, hookId: hook.id, deliveryId: only?.message_id },
        "a payload could not be made",
      );
      return new Map();
    }
    const rendered = new Map<string, string | null>();
    for (const delivery of fresh)
      for (const [id, body] of await render({ gate, ...deps }, hook, [delivery])) rendered.set(id, body);
    return rendered;
  }
}
