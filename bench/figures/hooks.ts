import { randomUUIDv7 } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { newSecret } from "../../server/connections/webhooks/transport/signing.ts";
import { createEncryptor } from "../../server/platform/crypto/encryptor.ts";
import { transactWithRetry } from "../../server/platform/db/retry.ts";
import { publicRequest, send } from "../api.ts";
import type { Bench, Served } from "../bench.ts";
import { type Receiver, startReceiver } from "../hook-receiver.ts";
import { median, p95 } from "../load.ts";
import { type Figure, figure, type Goal, ratioFigure } from "../report.ts";
import { benchSecret, freePort } from "../servers.ts";
import type { Sizes } from "../sizes.ts";

/** A server that sends webhooks, and a receiver. */
interface HookBench extends Served {
  readonly receiver: Receiver;
  readonly sizes: Sizes;
}

type EventType = "recording_updated" | "upload_updated";

/** A hook to be made. */
interface PlannedHook {
  readonly type: EventType;
  readonly url: string;
  /** Personal hooks get what their owner sees; workspace hooks everything. */
  readonly scope?: "personal" | "workspace";
  readonly include?: { readonly participants: boolean };
}

/** Hooks and events: how fast they go out, how soon, and beside dead receivers. */
export async function measureHooks({ main, sizes }: Bench): Promise<Figure[]> {
  const bench: HookBench = { ...(await main()), sizes, receiver: await startReceiver() };
  try {
    return [
      await measureRate(bench, { type: "upload_updated", scope: "workspace" }),
      await measureRate(bench, {
        type: "recording_updated",
        scope: "personal",
        include: { participants: true },
      }),
      ...(await measureDelay(bench)),
      ...(await measureBesideDead(bench)),
    ];
  } finally {
    bench.receiver.stop();
  }
}

/** How many events that are all there at once arrive each second at one healthy receiver. */
async function measureRate(bench: HookBench, hook: Omit<PlannedHook, "url">): Promise<Figure> {
  const { hooks, rounds } = bench.sizes;
  await setHooks(bench, [{ ...hook, url: `${originOf(bench.receiver)}/ok` }]);
  const rate = async (count: number): Promise<number> => {
    const arrived = bench.receiver.expect(count);
    await insertEvents(bench, hook.type, count);
    const { firstMs, lastMs, distinct } = await arrived();
    if (distinct !== count) throw new Error(`of ${count} events ${distinct} arrived, some of them twice`);
    return ((count - 1) * 1000) / (lastMs - firstMs);
  };
  await rate(Math.ceil(hooks.events / 5));
  // As autovacuum does within a minute: the planner takes a table that was just emptied for empty.
  await bench.data.db.pool.query("analyze deliveries");
  const rates: number[] = [];
  for (let round = 0; round < rounds; round += 1) rates.push(await rate(hooks.events));
  const at = median(rates);
  const what = `${hook.type}${hook.include ? " with participants" : ""}, ${hook.scope}`;
  return figure(
    `hooks: ${hooks.events.toLocaleString("en")} of ${what}, a second`,
    at,
    `${at.toFixed(0)}/s (${Math.min(...rates).toFixed(0)} to ${Math.max(...rates).toFixed(0)})`,
    "/s",
    { min: 1500 },
  );
}

/**
 * How soon the first attempt arrives on an idle system. The time before the change begins is what is known of it, so its
 * own duration is in these figures.
 */
async function measureDelay(bench: HookBench): Promise<Figure[]> {
  const count = bench.sizes.hooks.delays;
  const { server, data } = bench;
  await setHooks(bench, [
    { type: "recording_updated", url: `${originOf(bench.receiver)}/ok`, include: { participants: true } },
  ]);
  const { rows } = await data.db.pool.query<{ id: string }>(
    "select id from recordings where workspace_id = $1 order by id limit $2",
    [data.made.workspaceId, count],
  );
  const rename = (n: number): Promise<unknown> => {
    const title = `Weekly meeting ${n}, ${Date.now()}`;
    const client = { server, token: data.made.workspaceToken };
    return send(publicRequest(client, "PATCH", `/recordings/${rows[n]?.id}`, { title }));
  };
  const causes = [
    ["insert into events by another process", 15, () => insertEvents(bench, "recording_updated", 1)],
    ["PATCH of a title, with the request", 25, rename],
  ] as const;
  const figures: Figure[] = [];
  for (const [name, max, cause] of causes) {
    const delays: number[] = [];
    for (let n = 0; n < count; n += 1) delays.push(await timeToArrive(bench, () => cause(n)));
    const at = { median: median(delays), p95: p95(delays) };
    const measured = `median ${at.median.toFixed(0)} ms, p95 ${at.p95.toFixed(0)} ms, least ${Math.min(...delays).toFixed(0)} ms of ${count}`;
    figures.push(
      figure(`hooks: ${name} to first attempt, median`, at.median, measured, " ms", { max }),
      figure(`hooks: ${name} to first attempt, p95`, at.p95, measured, " ms", { max: 100 }),
    );
  }
  return figures;
}

/** A healthy hook alone, and among many that hang or refuse. */
async function measureBesideDead(bench: HookBench): Promise<Figure[]> {
  const { deadHooks, deadSamples } = bench.sizes.hooks;
  const type = "recording_updated";
  const closed = await freePort();
  const healthy = { type, url: `${originOf(bench.receiver)}/ok`, include: { participants: true } } as const;
  const dead = (n: number): PlannedHook => ({
    type,
    url: n % 2 === 0 ? `${originOf(bench.receiver, n)}/hang` : `${originOf({ port: closed }, n)}/refused`,
  });
  const sharing = (n: number): PlannedHook => ({ type, url: `${originOf(bench.receiver)}/hang?hook=${n}` });
  const many = (make: (n: number) => PlannedHook): PlannedHook[] =>
    Array.from({ length: deadHooks }, (_, n) => make(n + 1));
  const delays = async (hooks: readonly PlannedHook[], backlog: number): Promise<number[]> => {
    await setHooks(bench, [healthy, ...hooks]);
    await timeToArrive(bench, () => insertEvents(bench, type, backlog), backlog);
    const taken: number[] = [];
    for (let n = 0; n < deadSamples; n += 1)
      taken.push(await timeToArrive(bench, () => insertEvents(bench, type, 1)));
    return taken;
  };
  const cases: [name: string, hooks: readonly PlannedHook[]][] = [
    [`${deadHooks} dead hooks with ${deadHooks} events each`, many(dead)],
    [`${deadHooks} hooks that hang, at its own host`, many(sharing)],
  ];
  const figures: Figure[] = [];
  for (const [name, hooks] of cases) {
    // Alone before and after, so that a slow moment of the machine is seen.
    const before = await delays([], 1);
    const beside = await delays(hooks, deadHooks);
    const alone = [...before, ...(await delays([], 1))];
    const goals: [name: string, of: (values: readonly number[]) => number, goal: Goal][] = [
      ["median", median, { max: 2 }],
      ["p95", p95, {}],
    ];
    for (const [what, of, goal] of goals) {
      const [subject, baseline] = [of(beside), of(alone)];
      const ratio = subject / baseline;
      const compared = { subject, baseline, ratio, min: ratio, max: ratio };
      figures.push(ratioFigure(`hooks: delay of one beside ${name}, ${what}`, " ms", compared, goal));
    }
  }
  await setHooks(bench, []);
  return figures;
}

/** @returns milliseconds from the cause to the last of so many requests. */
async function timeToArrive(
  { receiver }: HookBench,
  cause: () => Promise<unknown>,
  expected = 1,
): Promise<number> {
  const arrived = receiver.expect(expected);
  const startedAt = performance.now();
  await cause();
  const { lastMs } = await arrived();
  // Not in step with the sender's look for events.
  await delay(60 + Math.random() * 100);
  return lastMs - startedAt;
}

/** The n-th origin of the receiver: a host for each, so that no two share connections. */
const originOf = (receiver: Pick<Receiver, "port">, n = 0): string =>
  `http://127.1.${Math.floor(n / 250)}.${(n % 250) + 1}:${receiver.port}`;

/** Removes every hook with what was sent to it, and makes these. */
async function setHooks({ data }: HookBench, planned: readonly PlannedHook[]): Promise<void> {
  await untilSettled(data);
  // Hooks whose receivers are dead are still at work, and may hold what goes with them.
  await transactWithRetry(data.db, (tx) => sql`delete from hooks`.execute(tx));
  const encryptor = createEncryptor(benchSecret);
  const rows = planned.map(({ type, url, scope = "workspace", include = {} }) => ({
    id: randomUUIDv7(),
    workspace_id: data.made.workspaceId,
    created_by: data.made.adminId,
    scope,
    version: "2026-10-01",
    hook_url: url,
    hook_type: type,
    include,
    secret: `\\x${encryptor.encrypt(newSecret()).toString("hex")}`,
    inserted_at: new Date(Date.now() - 60_000),
  }));
  await data.db.pool.query("insert into hooks select * from jsonb_populate_recordset(null::hooks, $1)", [
    JSON.stringify(rows),
  ]);
  // As autovacuum does after a while.
  await data.db.pool.query(
    "vacuum analyze hooks, deliveries, delivery_attempts, events, waiting_events, feed_positions",
  );
}

/** Waits until nothing is sent any more and all results of responding receivers are saved. */
async function untilSettled({ db }: Served["data"]): Promise<void> {
  for (const end = performance.now() + 60_000; performance.now() < end; await delay(50)) {
    const { rows } = await db.pool.query(
      `select 1 from hooks where failing_since is null and hook_url not like '%/hang'
         and (leased_by is not null or next_due_at is not null) limit 1`,
    );
    if (rows.length === 0) return;
  }
  throw new Error("hooks were still being served after a minute");
}

/**
 * Writes events as changes do, all in one transaction: of recordings that all members see, one after the other, or of
 * uploads that are nowhere else.
 */
async function insertEvents({ data }: HookBench, type: EventType, count: number): Promise<void> {
  const subject =
    type === "recording_updated"
      ? `(select array_agg(g.recording_id order by g.recording_id) from recording_grants g
          join workspaces w on w.members_id = g.principal_id where w.id = $1)`
      : "null::uuid[]";
  await data.db.pool.query(
    `with s as materialized (select ${subject} as ids)
     insert into events (event_id, workspace_id, type, subject_id, recording_id, data)
     select gen_random_uuid(), $1, $2, coalesce(id, gen_random_uuid()), id, case when id is null
       then jsonb_build_object('id', gen_random_uuid(), 'status', 'processing', 'media_type', 'video',
         'created_datetime', now(), 'recording_id', null)
       else '{}' end
     from s, lateral (select s.ids[1 + n % cardinality(s.ids)] as id from generate_series(1, $3::int) n) e`,
    [data.made.workspaceId, type, count],
  );
}
