import type pg from "pg";
import { bigintArray, integerArray, textArray, timestampArray } from "../../../platform/db/binary-array.ts";
import { deliveryResult } from "../../../platform/telemetry/signals.ts";
import type { DeliveryState } from "./states.ts";

/** How an attempt ended, or that none was made. */
export interface DeliveryResult {
  readonly id: string;
  readonly state: DeliveryState;
  /** When the next attempt is due; null: none follows. */
  readonly due_at: Date | null;
  /** As UTF-8. */
  readonly payload: Buffer | null;
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

/** What the attempts mean for the hook. */
export interface HookHealth {
  /** Undefined: unchanged. */
  readonly failingSince?: Date | null;
  /** The reason to disable the hook. */
  readonly disable?: string;
  /** When sending may resume, as the receiver asked. */
  readonly pauseUntil?: Date;
}

/** Results of one hook. */
export interface HookResults {
  readonly hookId: string;
  readonly results: readonly DeliveryResult[];
  readonly health: HookHealth;
}

/**
 * Saves results of many hooks, and what they mean for the hooks, in one statement. The first attempt is part of the
 * delivery's row; later ones get rows of their own. The result of a delivery that is no longer pending changes nothing.
 */
export async function saveResults(
  pool: Pick<pg.Pool, "query">,
  hooks: readonly HookResults[],
  now: Date,
): Promise<void> {
  const all = hooks.flatMap(({ results }) => results);
  const changed = hooks.filter(({ health }) => Object.keys(health).length > 0);
  if (all.length === 0 && changed.length === 0) return;
  await pool.query({
    name: "save_results",
    text: `with s as (
        select * from unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::text[], $5::integer[], $6::timestamptz[],
          $7::integer[], $8::integer[], $9::text[], $10::text[], $11::text[])
          as s (id, state, due_at, payload, number, started_at, duration_ms, status, error, response, signature)
        -- The commit is not waited for: a database that crashes at that moment loses the last results, and these deliveries
        -- are sent again under the same webhook-id.
        where (select set_config('synchronous_commit', 'off', true)) is not null
      ), held as materialized (
        -- Locked in the order of ids, so that no two transactions wait for each other. Here and below, settled_at is null
        -- stands for state = 'pending': with the state, the planner may read a partial index of the whole backlog for each
        -- result, which made this statement fifty times slower.
        select s.*, d.message_id, d.settled_at is null as is_open
        from s join deliveries d on d.id = s.id order by d.id for no key update of d
      ), changed as (
        update deliveries d set state = h.state, attempts = coalesce(h.number, d.attempts),
          due_at = coalesce(h.due_at, d.due_at), payload = coalesce(h.payload, d.payload),
          settled_at = case when h.state = 'pending' then null else $12::timestamptz end,
          first_at = coalesce(d.first_at, h.started_at),
          first_ms = case when d.first_at is null then h.duration_ms else d.first_ms end,
          first_status = case when d.first_at is null then h.status else d.first_status end,
          first_error = case when d.first_at is null then h.error else d.first_error end,
          first_response = case when d.first_at is null then h.response else d.first_response end,
          first_signature = case when d.first_at is null then h.signature else d.first_signature end
        from held h where d.id = h.id and d.settled_at is null
      ), logged as (
        insert into delivery_attempts
          (delivery_id, attempt, started_at, duration_ms, status, error, response, request_headers)
        -- If it was suppressed while it was sent, the response may repeat what was deleted.
        select id, number, started_at, duration_ms, status, error, case when is_open then response end,
          parley_request_headers(message_id, signature, started_at)
        from held where number > 1
        on conflict (delivery_id, attempt) do nothing
      ), health as (
        select v.* from unnest($13::uuid[], $14::boolean[], $15::timestamptz[], $16::text[], $17::timestamptz[])
            as v (hook_id, is_changed, failing_since, disable, pause_until)
          -- Deliveries are locked before their hook, and hooks in the order of ids.
          join hooks on hooks.id = v.hook_id and (select count(*) from held) >= 0
        order by v.hook_id for no key update of hooks
      )
      update hooks set
        failing_since = case when v.is_changed then v.failing_since else hooks.failing_since end,
        disabled_at = case when v.disable is null then hooks.disabled_at else $12::timestamptz end,
        disabled_reason = coalesce(v.disable, hooks.disabled_reason),
        paused_until = coalesce(v.pause_until, hooks.paused_until)
      from health v where hooks.id = v.hook_id`,
    values: [
      bigintArray(all.map(({ id }) => id)),
      textArray(all.map(({ state }) => state)),
      timestampArray(all.map(({ due_at }) => due_at)),
      textArray(all.map(({ payload }) => payload)),
      integerArray(all.map(({ attempt }) => attempt?.number ?? null)),
      timestampArray(all.map(({ attempt }) => attempt?.started_at ?? null)),
      integerArray(all.map(({ attempt }) => attempt?.duration_ms ?? null)),
      integerArray(all.map(({ attempt }) => attempt?.status ?? null)),
      textArray(all.map(({ attempt }) => attempt?.error ?? null)),
      textArray(all.map(({ attempt }) => attempt?.response ?? null)),
      textArray(all.map(({ attempt }) => attempt?.signature ?? null)),
      now,
      changed.map(({ hookId }) => hookId),
      changed.map(({ health }) => health.failingSince !== undefined),
      changed.map(({ health }) => health.failingSince ?? null),
      changed.map(({ health }) => health.disable ?? null),
      changed.map(({ health }) => health.pauseUntil ?? null),
    ],
  });
  for (const { state, attempt } of all)
    deliveryResult.publish({
      result: state === "pending" ? "retry" : state,
      // Without a signature nothing was sent.
      seconds: attempt === null || attempt.signature === "" ? null : attempt.duration_ms / 1000,
    });
}
