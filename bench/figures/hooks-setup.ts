import { randomUUIDv7 } from "node:crypto";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import type { HookType } from "../../contract/webhooks/hooks.ts";
import { newSecret } from "../../server/connections/webhooks/transport/signing.ts";
import { createEncryptor } from "../../server/platform/crypto/encryptor.ts";
import { transactWithRetry } from "../../server/platform/db/retry.ts";
import type { BenchDatabase, BenchPostgres } from "../database.ts";
import { type Dataset, dataset } from "../datasets.ts";
import { type Receiver, startReceiver } from "../hook-receiver.ts";
import { benchSecret, type RunningServer, startParley } from "../servers.ts";
import type { Sizes } from "../sizes.ts";

/** What a database needs to have for hooks. */
type HookData = Pick<Dataset, "workspaceId" | "adminId" | "workspaceToken">;

/** A server that sends webhooks, another that only serves requests, and a receiver. */
export interface HookBench {
  readonly worker: RunningServer;
  readonly api: RunningServer;
  readonly receiver: Receiver;
  readonly data: BenchDatabase<HookData>;
  stop(): Promise<void>;
}

/** The settings of a server on the bench's database for hooks. */
export function hookServer(
  postgres: BenchPostgres,
  data: BenchDatabase<HookData>,
  role: "api" | "all",
): Promise<RunningServer> {
  return startParley({
    PARLEY_ROLE: role,
    PARLEY_DATABASE_URL: data.url,
    // Both share one store, as processes on one database must.
    PARLEY_DATA_DIR: join(postgres.folder, data.connection.database),
    PARLEY_BASE_URL: "http://localhost:3000",
    PARLEY_SECRET: benchSecret,
    PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8",
    // The sender is measured, not its limit.
    PARLEY_HOOK_REQUESTS_PER_HOST_PER_MINUTE: "0",
  });
}

/** A database of its own: hooks of the others would be served as well. */
export const hookData = (postgres: BenchPostgres, sizes: Sizes): Promise<BenchDatabase<Dataset>> =>
  dataset(postgres, "parley_hooks", sizes.hookRecordings, sizes);

export async function startHookBench(
  postgres: BenchPostgres,
  data: BenchDatabase<HookData>,
): Promise<HookBench> {
  const receiver = await startReceiver();
  const servers: RunningServer[] = [];
  const stop = async (): Promise<void> => {
    for (const server of servers) await server.stop();
    receiver.stop();
  };
  try {
    for (const role of ["all", "api"] as const) servers.push(await hookServer(postgres, data, role));
  } catch (error) {
    await stop();
    throw error;
  }
  const [worker, api] = servers as [RunningServer, RunningServer];
  return { worker, api, receiver, data, stop };
}

/** A hook to be made. */
export interface PlannedHook {
  readonly type: HookType;
  readonly url: string;
  /** Personal hooks get what their owner sees; workspace hooks everything. */
  readonly scope?: "personal" | "workspace";
  readonly include?: object;
}

/** The n-th origin of the receiver: a host for each, so that no two share connections. */
export const originOf = (receiver: Pick<Receiver, "port">, n = 0): string =>
  `http://127.1.${Math.floor(n / 250)}.${(n % 250) + 1}:${receiver.port}`;

/** Removes every hook with what was sent to it, and makes these. */
export async function setHooks({ data }: HookBench, planned: readonly PlannedHook[]): Promise<void> {
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
async function untilSettled({ db }: BenchDatabase<HookData>): Promise<void> {
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
 * @returns when the statement began, by `process.hrtime`, in ms.
 */
export async function insertEvents(
  { data }: Pick<HookBench, "data">,
  type: "recording_updated" | "upload_updated",
  count: number,
): Promise<number> {
  const subject =
    type === "recording_updated"
      ? `(select array_agg(g.recording_id order by g.recording_id) from recording_grants g
          join workspaces w on w.members_id = g.principal_id where w.id = $1)`
      : "null::uuid[]";
  const startedAt = nowMs();
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
  return startedAt;
}

/** The same clock in every process of the machine. */
export const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;
