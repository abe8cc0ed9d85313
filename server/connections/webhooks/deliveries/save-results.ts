import type pg from "pg";
import type { DeliveryState } from "../../../people/events/delivery-states.ts";
import { deliveryResult } from "../../../platform/telemetry/signals.ts";

/** How an attempt ended, or that none was made. */
export interface DeliveryResult {
  readonly id: string;
  readonly state: DeliveryState;
  /** When the next attempt is due; null: none follows. */
  readonly due_at: Date | null;
  /** To be kept; null: it is kept already, or is rendered for each attempt. */
  readonly payload: string | null;
  /** Null: nothing was sent. */
  readonly attempt: {
    readonly number: number;
    readonly started_at: Date;
    readonly duration_ms: number;
    readonly status: number | null;
    readonly error: string | null;
    readonly response: string;
    /** The header webhook-signature; empty if nothing was sent. */
    readonly signature: string;
  } | null;
}

/**
 * Saves results in one statement. The first attempt is part of the delivery's row; later ones get rows of their own. The
 * result of a delivery that is no longer pending changes nothing.
 */
export async function saveResults(
  pool: Pick<pg.Pool, "query">,
  results: readonly DeliveryResult[],
  now: Date,
  { isDurable = false }: { readonly isDurable?: boolean } = {},
): Promise<void> {
  const rows = results.map(({ attempt, ...result }) => ({ ...result, ...attempt }));
  await pool.query({
    // No name, so that it is planned each time: a plan from when the table was small would read all of it once it is large.
    text: `with s as (
        select * from json_to_recordset($1::json)
          as s (id bigint, state text, due_at timestamptz, payload text, number integer, started_at timestamptz,
            duration_ms integer, status integer, error text, response text, signature text)
        -- The commit is not waited for: a database that crashes at that moment loses the last results, and these deliveries
        -- are sent again under the same webhook-id. Chats have no such id, so the results of deliveries are durable.
        where case when $4 then true else (select set_config('synchronous_commit', 'off', true)) is not null end
        -- All of them: without their number, the planner expects a hundred and reads the whole table instead.
        limit $3
      ), held as materialized (
        -- Locked in the order of ids, so that no two transactions wait for each other. Here and below, settled_at is null
        -- stands for state = 'pending': with the state, the planner may read a partial index of the whole backlog for each
        -- result, which made this statement fifty times slower.
        select s.*, d.message_id, d.settled_at is null as is_open
        from s join deliveries d on d.id = s.id order by d.id for no key update of d
      ), changed as (
        update deliveries d set state = h.state, attempts = coalesce(h.number, d.attempts),
          due_at = coalesce(h.due_at, d.due_at), payload = coalesce(h.payload, d.payload),
          settled_at = case when h.state = 'pending' then null else $2::timestamptz end,
          first_at = coalesce(d.first_at, h.started_at),
          first_ms = case when d.first_at is null then h.duration_ms else d.first_ms end,
          first_status = case when d.first_at is null then h.status else d.first_status end,
          first_error = case when d.first_at is null then h.error else d.first_error end,
          first_response = case when d.first_at is null then h.response else d.first_response end,
          first_signature = case when d.first_at is null then h.signature else d.first_signature end
        from held h where d.id = h.id and d.settled_at is null
      )
      insert into delivery_attempts
        (delivery_id, attempt, started_at, duration_ms, status, error, response, request_headers)
      -- If it was suppressed while it was sent, the response may repeat what was deleted.
      select id, number, started_at, duration_ms, status, error, case when is_open then response end,
        parley_request_headers(message_id, signature, started_at)
      from held where number > 1
      on conflict (delivery_id, attempt) do nothing`,
    values: [JSON.stringify(rows), now, rows.length, isDurable],
  });
  for (const { state, attempt } of results)
    deliveryResult.publish({
      result: state === "pending" ? "retry" : state,
      // Without a signature nothing was sent.
      seconds: attempt === null || attempt.signature === "" ? null : attempt.duration_ms / 1000,
    });
}
