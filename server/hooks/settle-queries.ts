import type pg from "pg";
import { bigintArray, integerArray, textArray, timestampArray } from "../db/binary-array.ts";
import { settlePacked } from "./settle-packed.ts";
import type { HookResults, Settlement } from "./settlement.ts";

/**
 * Writes down how attempts ended. Those of batches that succeeded are written at once. All others are rows by then,
 * and are settled in one transaction with what they mean for the hooks; the first attempt is kept in the delivery, others
 * beside it.
 */
export async function settle(pool: pg.Pool, results: readonly HookResults[], now: Date): Promise<void> {
  const all = results.flatMap(({ settlements }) => settlements);
  const told = results.filter(({ verdict }) => Object.keys(verdict).length > 0);
  const rows = await settlePacked(pool, all, now);
  if (rows.length > 0 || told.length > 0) await settleRows(pool, rows, told, now);
}

async function settleRows(
  pool: pg.Pool,
  all: readonly Settlement[],
  told: readonly HookResults[],
  now: Date,
): Promise<void> {
  await pool.query({
    name: "settle_deliveries",
    text: `with s as (
        select * from unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::text[], $5::integer[], $6::timestamptz[],
          $7::integer[], $8::integer[], $9::text[], $10::text[], $11::text[])
          as s (id, state, due_at, payload, number, started_at, duration_ms, status, error, answer, signature)
        -- Not waited for: a database that dies at once forgets the last of them, and they are sent again.
        where (select set_config('synchronous_commit', 'off', true)) is not null
      ), held as materialized (
        -- In one order everywhere, so that nobody waits for each other. Found by their ids alone, here and below: by hook
        -- and state an index would be read that holds the whole backlog.
        select s.*, d.message_id, d.settled_at is not null as is_over from s join deliveries d on d.id = s.id order by d.id for no key update of d
      ), changed as (
        update deliveries d set state = h.state, attempts = coalesce(h.number, d.attempts),
          due_at = coalesce(h.due_at, d.due_at), payload = coalesce(h.payload, d.payload),
          settled_at = case when h.state = 'pending' then null else $12::timestamptz end,
          first_at = coalesce(d.first_at, h.started_at),
          first_ms = case when d.first_at is null then h.duration_ms else d.first_ms end,
          first_status = case when d.first_at is null then h.status else d.first_status end,
          first_error = case when d.first_at is null then h.error else d.first_error end,
          first_answer = case when d.first_at is null then h.answer else d.first_answer end,
          first_signature = case when d.first_at is null then h.signature else d.first_signature end
        from held h where d.id = h.id and d.settled_at is null
      ), logged as (
        insert into delivery_attempts
          (delivery_id, attempt, started_at, duration_ms, status, error, answer, request_headers)
        -- Forgotten while it was sent: the answer may repeat what is to be gone.
        select id, number, started_at, duration_ms, status, error, case when not is_over then answer end,
          parley_request_headers(message_id, signature, started_at)
        from held where number > 1
        on conflict (delivery_id, attempt) do nothing
      ), verdicts as (
        select v.* from unnest($13::uuid[], $14::boolean[], $15::timestamptz[], $16::text[], $17::timestamptz[])
            as v (hook_id, is_changed, failing_since, disable, pause_until)
          -- Deliveries before their hook, and hooks in one order.
          join hooks on hooks.id = v.hook_id and (select count(*) from held) >= 0
        order by v.hook_id for no key update of hooks
      )
      update hooks set
        failing_since = case when v.is_changed then v.failing_since else hooks.failing_since end,
        disabled_at = case when v.disable is null then hooks.disabled_at else $12::timestamptz end,
        disabled_reason = coalesce(v.disable, hooks.disabled_reason),
        paused_until = coalesce(v.pause_until, hooks.paused_until)
      from verdicts v where hooks.id = v.hook_id`,
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
      textArray(all.map(({ attempt }) => attempt?.answer ?? null)),
      textArray(all.map(({ attempt }) => attempt?.signature ?? null)),
      now,
      told.map(({ hookId }) => hookId),
      told.map(({ verdict }) => verdict.failingSince !== undefined),
      told.map(({ verdict }) => verdict.failingSince ?? null),
      told.map(({ verdict }) => verdict.disable ?? null),
      told.map(({ verdict }) => verdict.pauseUntil ?? null),
    ],
  });
}
