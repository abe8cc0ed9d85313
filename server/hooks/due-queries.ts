import type pg from "pg";
import type { HookType } from "../../contract/hooks.ts";
import { mayHear } from "./fan-out.ts";

/** A delivery that is due, with what is needed to render and send it. */
export interface DueDelivery {
  readonly id: string;
  readonly message_id: string;
  readonly event_type: HookType;
  readonly subject_id: string;
  readonly recording_id: string | null;
  /** As it was sent before; null before the first attempt. */
  readonly payload: string | null;
  readonly attempts: number;
  /** Of these, those made before it was last asked for anew. */
  readonly attempts_before: number;
  /** As JSON; null: the event is too old to be kept. */
  readonly data: string | null;
  /** Whether the hook's owner may hear of it now. */
  readonly may_hear: boolean;
  readonly due_at: Date;
  /** Whether other hooks have the same address, which may hold back first attempts of this one. */
  readonly has_siblings: boolean;
  /** The batch that holds it; null: it is a row of its own. */
  readonly batch_id: string | null;
}

/** Whether anything is due for a hook, also what `findDue` holds back. */
export async function hasDue(pool: pg.Pool, hookId: string, now: Date): Promise<boolean> {
  const { rows } = await pool.query({
    name: "has_due",
    text: `select 1 from deliveries where hook_id = $1 and state = 'pending' and due_at <= $2
      union all select 1 from delivery_batches where hook_id = $1 and due_at <= $2 limit 1`,
    values: [hookId, now],
  });
  return rows.length > 0;
}

/** The order of ids, which are whole numbers as texts. */
export function byId(one: { readonly id: string }, other: { readonly id: string }): number {
  return one.id.length - other.id.length || (one.id < other.id ? -1 : Number(one.id > other.id));
}

/** The order of `findDue`: negative where one delivery of a hook comes before another. */
export function byDue(one: DueDelivery, other: DueDelivery): number {
  return one.due_at.getTime() - other.due_at.getTime() || byId(one, other);
}

/** What is looked for of one hook. */
export interface DueRequest {
  readonly hookId: string;
  readonly now: Date;
  /** What is being sent, or written down, and therefore still looks due. */
  readonly except: readonly string[];
  /**
   * Where an earlier look ended: what was due before is left out, and what is left of it in the index is not gone
   * through again.
   */
  readonly after: DueDelivery | null;
  readonly limit: number;
}

/**
 * What is due for hooks, first attempts in the order of events. A first attempt waits while another hook of the same
 * address, which is not failing, has yet to try an earlier event of the same subject: a receiver with a hook for each
 * type sees them in order. That is seen of rows alone: with batches of such hooks about, nothing is found until
 * `unpackAround` has made rows of them.
 * @returns for each request its deliveries.
 */
export async function findDue(pool: pg.Pool, requests: readonly DueRequest[]): Promise<DueDelivery[][]> {
  const { rows } = await pool.query<DueGroup>({
    name: "due_deliveries",
    // Those of a batch as one row: reading a row takes longer than finding it. JSON has no line breaks of its own here.
    text: `select place, batch_id, due_at, event_type, has_siblings, max(payload) as payload,
        max(attempts) as attempts, max(attempts_before) as attempts_before,
        string_agg(id::text, ',' order by id) as ids,
        string_agg(message_id::text, ',' order by id) as message_ids,
        string_agg(coalesce(subject_id::text, ''), ',' order by id) as subject_ids,
        string_agg(coalesce(recording_id::text, ''), ',' order by id) as recording_ids,
        string_agg(coalesce(data::text, ''), E'\\n' order by id) as data,
        string_agg(case when may_hear then '1' else '0' end, '' order by id) as may_hear
      from (
      select r.place::integer - 1 as place, d.id, d.message_id, coalesce(d.event_type, e.type) as event_type,
        coalesce(d.subject_id, e.subject_id) as subject_id, e.recording_id, d.payload,
        d.attempts, d.attempts_before, d.due_at, d.batch_id, e.data, ${mayHear} as may_hear,
        s.ids is not null as has_siblings
      from unnest($1::uuid[], $2::timestamptz[], $3::timestamptz[], $4::bigint[], $5::integer[])
          with ordinality r (hook_id, now, after_at, after_id, most, place)
        -- Not of one that was switched off: its worker is told of it only seconds later.
        join hooks h on h.id = r.hook_id and h.disabled_at is null
        join workspaces w on w.id = h.workspace_id
        cross join lateral (
          select array_agg(h2.id) as ids from hooks h2
          where h2.workspace_id = h.workspace_id and h2.hook_url = h.hook_url and h2.id <> h.id
            and h2.disabled_at is null and h2.failing_since is null
        ) s
        cross join lateral (
          (select null::bigint as batch_id, d.id, d.message_id, d.event_id, d.event_type, d.subject_id, d.recording_id,
            d.payload, d.attempts, d.attempts_before, d.due_at
          from deliveries d
          where d.hook_id = r.hook_id and d.state = 'pending' and d.due_at <= r.now and d.id <> all($6::bigint[])
            and (d.due_at, d.id) > (r.after_at, r.after_id)
            and (s.ids is null or (not exists (
                select 1 from delivery_batches b where b.hook_id = any(s.ids || h.id))
              and (d.attempts > 0 or not exists (
                select 1 from deliveries d2 where d2.hook_id = any(s.ids)
                  and d2.state = 'pending' and d2.attempts = 0
                  and d2.subject_id = d.subject_id and d2.event_id < d.event_id))))
          order by d.due_at, d.id limit r.most)
          union all
          (select b.id, x.id, x.message_id, x.event_id, null, null, null, null, 0, 0, b.due_at
          from (
            select *, coalesce(sum(cardinality(delivery_ids)) over (
              order by due_at, id rows between unbounded preceding and 1 preceding), 0) as before
            from (
              select * from delivery_batches
              where hook_id = r.hook_id and due_at <= r.now and s.ids is null
                and (due_at, delivery_ids[cardinality(delivery_ids)]) > (r.after_at, r.after_id)
              -- Hold more than is ever left out, however small they were made: a row would come before the rest of them.
              order by due_at, id limit 200
            ) first_ones
          ) b cross join lateral unnest(b.delivery_ids, b.message_ids, b.event_ids) x (id, message_id, event_id)
          -- Enough of them, also when the first are left out.
          where b.before < r.most + cardinality($6::bigint[]) and x.id <> all($6::bigint[])
            and (b.due_at, x.id) > (r.after_at, r.after_id))
          order by due_at, id limit r.most
        ) d
        left join lateral (
          select ev.data, ev.audience, ev.type, ev.subject_id,
            case when d.batch_id is null then d.recording_id else ev.recording_id end as recording_id
          from (select 1) one left join events ev on ev.id = d.event_id) e on true
      ) each
      group by place, due_at, batch_id, event_type, has_siblings, case when batch_id is null then id end`,
    values: [
      requests.map(({ hookId }) => hookId),
      requests.map(({ now }) => now),
      requests.map(({ after }) => after?.due_at ?? "-infinity"),
      requests.map(({ after }) => after?.id ?? "0"),
      requests.map(({ limit }) => limit),
      requests.flatMap(({ except }) => except),
    ],
  });
  const found = requests.map((): DueDelivery[] => []);
  for (const row of rows) found[row.place]?.push(...takeApart(row));
  return found.map((due) => due.sort(byDue));
}

/** Due deliveries of one batch, or one that is a row. */
interface DueGroup
  extends Pick<
    DueDelivery,
    "batch_id" | "due_at" | "event_type" | "has_siblings" | "payload" | "attempts" | "attempts_before"
  > {
  /** Which request it is for. */
  readonly place: number;
  /** With commas between them; so are the next three. */
  readonly ids: string;
  readonly message_ids: string;
  /** Nothing in this and the next: null. */
  readonly subject_ids: string;
  readonly recording_ids: string;
  /** A line for each; nothing: null. */
  readonly data: string;
  /** 1 or 0 for each. */
  readonly may_hear: string;
}

function takeApart({
  place: _,
  ids,
  message_ids,
  subject_ids,
  recording_ids,
  data,
  may_hear,
  ...same
}: DueGroup): DueDelivery[] {
  const messages = message_ids.split(",");
  const subjects = subject_ids.split(",");
  const recordings = recording_ids.split(",");
  const lines = data.split("\n");
  return ids.split(",").map((id, n) => ({
    ...same,
    id,
    message_id: messages[n] as string,
    // Null where the event is gone, as deleted by an older version: nothing can be rendered of it then.
    subject_id: (subjects[n] || null) as string,
    recording_id: recordings[n] || null,
    data: lines[n] || null,
    may_hear: may_hear[n] === "1",
  }));
}
