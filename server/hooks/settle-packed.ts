import type pg from "pg";
import { bigintArray, integerArray, textArray, timestampArray } from "../db/binary-array.ts";
import { byId } from "./due-queries.ts";
import type { Settlement } from "./settlement.ts";

/** A success at the first attempt, of a delivery that was in a batch when it was looked for. */
type Delivered = Settlement & {
  readonly batch_id: string;
  readonly attempt: NonNullable<Settlement["attempt"]>;
};

/** With so many of one batch at a time they stay together, as one row of delivered_batches. */
const leastTogether = 20;

const uniqueViolation = "23505";

/**
 * Writes down deliveries in batches that succeeded at the first attempt, and takes them from their batches.
 * @returns what is to be settled as rows: what was no part of a batch, is not any more, or did not succeed. Of the latter
 *   the batches are unpacked.
 */
export async function settlePacked(
  pool: pg.Pool,
  all: readonly Settlement[],
  now: Date,
): Promise<readonly Settlement[]> {
  const rows: Settlement[] = [];
  const packed: Delivered[] = [];
  const broken = new Set<string>();
  for (const one of all) {
    if (one.batch_id === null) rows.push(one);
    else if (one.state === "delivered" && one.attempt !== null) packed.push(one as Delivered);
    else {
      broken.add(one.batch_id);
      rows.push(one);
    }
  }
  const few: Delivered[] = [];
  for (const together of Map.groupBy(packed, ({ batch_id }) => batch_id).values()) {
    if (together.length < leastTogether || !(await writeTogether(pool, together, now))) few.push(...together);
  }
  if (few.length > 0) {
    try {
      const { count, written } = await writeRows(pool, few, now);
      // Some were unpacked meanwhile. What was written is left alone: it may have been asked for again already.
      if (count < few.length) rows.push(...few.filter(({ id }) => !written.includes(id)));
    } catch (error) {
      // A process that does not know batches has made a delivery of one of these events: unpacking keeps that one.
      if ((error as { code?: unknown }).code !== uniqueViolation) throw error;
      for (const { batch_id } of few) broken.add(batch_id);
      rows.push(...few);
    }
  }
  if (broken.size > 0) await pool.query("select parley_unpack_batches($1)", [[...broken]]);
  return rows;
}

/** What the statements below take of each: id, payload, start, duration, status, answer and signature. */
const listsOf = (delivered: readonly Delivered[]): Buffer[] => [
  bigintArray(delivered.map(({ id }) => id)),
  textArray(delivered.map(({ payload }) => payload)),
  timestampArray(delivered.map(({ attempt }) => attempt.started_at)),
  integerArray(delivered.map(({ attempt }) => attempt.duration_ms)),
  integerArray(delivered.map(({ attempt }) => attempt.status)),
  textArray(delivered.map(({ attempt }) => attempt.answer)),
  textArray(delivered.map(({ attempt }) => attempt.signature)),
];

/**
 * Writes down many of one batch as one row.
 * @returns false where not all of them are in the batch any more, or one has a row: then nothing was done.
 */
async function writeTogether(pool: pg.Pool, unordered: readonly Delivered[], now: Date): Promise<boolean> {
  // As in the batch: their ids are given in the order of their places.
  const together = unordered.toSorted(byId);
  const { rowCount } = await pool.query({
    name: "settle_together",
    text: `with s as (
        select id from unnest($2::bigint[]) s (id)
        -- Not waited for: a database that dies at once forgets the last of them, and they are sent again.
        where (select set_config('synchronous_commit', 'off', true)) is not null
      ), held as materialized (
        select * from delivery_batches where id = $1 for update
      ), parts as materialized (
        select
          array_agg(id) filter (where is_over) as delivery_ids,
          array_agg(message_id) filter (where is_over) as message_ids,
          array_agg(event_id) filter (where is_over) as event_ids,
          min(event_id) filter (where is_over) as first_event,
          max(event_id) filter (where is_over) as last_event,
          array_agg(id) filter (where not is_over) as other_ids,
          array_agg(message_id) filter (where not is_over) as other_messages,
          array_agg(event_id) filter (where not is_over) as other_events
        from (
          select x.*, s.id is not null as is_over
          from held b
            cross join lateral unnest(b.delivery_ids, b.message_ids, b.event_ids)
              with ordinality x (id, message_id, event_id, place)
            left join s on s.id = x.id
          order by x.place
        ) each
      ), added as (
        insert into delivered_batches (id, last_id, hook_id, due_at, created_at, settled_at, first_event, last_event, delivery_ids,
          message_ids, event_ids, payloads, started_at, duration_ms, statuses, answers, signatures)
        select p.delivery_ids[1], p.delivery_ids[cardinality(p.delivery_ids)], b.hook_id, b.due_at, b.created_at,
          $9::timestamptz,
          p.first_event, p.last_event, p.delivery_ids, p.message_ids, p.event_ids,
          $3::text[], $4::timestamptz[], $5::integer[], $6::integer[], $7::text[], $8::text[]
        from held b cross join parts p
        where p.delivery_ids = $2::bigint[]
          -- A process that does not know batches may have made a later delivery of one of these events.
          and not exists (select 1 from deliveries d
            where d.hook_id = b.hook_id and d.id > p.delivery_ids[1] and d.event_id = any(p.event_ids))
        returning 1
      ), shrunk as (
        update delivery_batches b
        set delivery_ids = p.other_ids, message_ids = p.other_messages, event_ids = p.other_events
        from parts p, added where b.id = $1 and p.other_ids is not null
      ), emptied as (
        delete from delivery_batches b using parts p, added where b.id = $1 and p.other_ids is null
      )
      select 1 from added`,
    values: [together[0]?.batch_id, ...listsOf(together), now],
  });
  return rowCount === 1;
}

/**
 * Makes rows of them.
 * @returns how many were in their batches, and which, where some were not.
 */
async function writeRows(
  pool: pg.Pool,
  packed: readonly Delivered[],
  now: Date,
): Promise<{ readonly count: number; readonly written: readonly string[] }> {
  const { rows } = await pool.query<{ count: number; written: string[] | null }>({
    name: "settle_packed",
    text: `with s as (
        select * from unnest($2::bigint[], $3::text[], $4::timestamptz[], $5::integer[], $6::integer[], $7::text[],
          $8::text[]) as s (id, payload, started_at, duration_ms, status, answer, signature)
        -- Not waited for, as above.
        where (select set_config('synchronous_commit', 'off', true)) is not null
      ), held as materialized (
        select * from delivery_batches where id = any($1::bigint[]) order by id for update
      ), added as (
        insert into deliveries (id, message_id, hook_id, event_id, event_type, subject_id, recording_id, due_at,
          created_at, state, attempts, settled_at, payload, first_at, first_ms, first_status, first_answer,
          first_signature)
          overriding system value
        select x.id, x.message_id, b.hook_id, e.id, e.type, e.subject_id, e.recording_id, b.due_at,
          b.created_at, 'delivered', 1, $9::timestamptz, s.payload, s.started_at, s.duration_ms, s.status, s.answer,
          s.signature
        from held b
          cross join lateral unnest(b.delivery_ids, b.message_ids, b.event_ids) x (id, message_id, event_id)
          join s on s.id = x.id
          join events e on e.id = x.event_id
        returning id
      ), rest as materialized (
        select b.id, array_agg(x.id order by x.place) as delivery_ids,
          array_agg(x.message_id order by x.place) as message_ids, array_agg(x.event_id order by x.place) as event_ids
        from held b
          cross join lateral unnest(b.delivery_ids, b.message_ids, b.event_ids)
            with ordinality x (id, message_id, event_id, place)
        where x.id not in (select unnest($2::bigint[]))
        group by b.id
      ), shrunk as (
        update delivery_batches b
        set delivery_ids = r.delivery_ids, message_ids = r.message_ids, event_ids = r.event_ids
        from rest r where b.id = r.id
      ), emptied as (
        delete from delivery_batches b using held h where b.id = h.id and b.id not in (select id from rest)
      )
      select count(*)::integer as count,
        case when count(*) < cardinality($2::bigint[]) then array_agg(id) end as written from added`,
    values: [[...new Set(packed.map(({ batch_id }) => batch_id))], ...listsOf(packed), now],
  });
  return { count: rows[0]?.count ?? 0, written: rows[0]?.written ?? [] };
}
