import { type Selectable, sql } from "kysely";
import type pg from "pg";
import type { Conditions, DestinationKind } from "../../../contract/deliveries/deliveries.ts";
import { managesWorkspace } from "../../people/access/manages-workspace.ts";
import type { DeliveryState } from "../../people/events/delivery-states.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Executor, Tx } from "../../platform/db/database.ts";
import type { Destinations, Hooks } from "../../platform/db/types.ts";
import { defineRecurringJob } from "../../platform/jobs/define.ts";
import { inWork } from "../../recordings/recordings/announce.ts";
import { canReceive } from "../webhooks/deliveries/can-receive.ts";
import { hasContent, isPresent, meetsConditions } from "./matching.ts";

/** A delivery: what is sent where, and its hook with owner, access and state. */
export type DestinationRow = Selectable<Hooks> &
  Pick<Selectable<Destinations>, "name" | "url" | "folder" | "link_people" | "template"> & {
    readonly kind: DestinationKind;
    readonly conditions: Conditions;
  };

/** The deliveries that a caller manages: their own; all of the workspace for admins and workspace tokens. */
function isManagedBy(principal: Principal) {
  return managesWorkspace(principal)
    ? sql<boolean>`h.workspace_id = ${principal.workspaceId}`
    : sql<boolean>`h.created_by = ${principal.userId} and h.scope = 'personal'`;
}

const columns = sql.raw("h.*, t.kind, t.name, t.url, t.folder, t.link_people, t.conditions, t.template");

export async function findDestinations(db: Executor, principal: Principal): Promise<DestinationRow[]> {
  const { rows } = await sql<DestinationRow>`
    select ${columns} from hooks h join destinations t on t.hook_id = h.id
    where ${isManagedBy(principal)} order by h.inserted_at desc, h.id desc`.execute(db);
  return rows;
}

export async function findDestination(
  db: Executor,
  principal: Principal,
  id: string,
): Promise<DestinationRow | undefined> {
  const { rows } = await sql<DestinationRow>`
    select ${columns} from hooks h join destinations t on t.hook_id = h.id
    where h.id = ${id} and ${isManagedBy(principal)}`.execute(db);
  return rows[0];
}

/** What a delivery is made of. */
export type DestinationValues = Pick<
  DestinationRow,
  "name" | "url" | "folder" | "link_people" | "conditions" | "template"
>;

export async function insertDestination(
  tx: Tx,
  row: DestinationValues & Pick<DestinationRow, "id" | "workspace_id" | "kind">,
): Promise<void> {
  const { id, conditions, ...rest } = row;
  await tx
    .insertInto("destinations")
    .values({ ...rest, hook_id: id, conditions: JSON.stringify(conditions) })
    .execute();
}

export async function updateDestinationRow(tx: Tx, id: string, values: DestinationValues): Promise<void> {
  await tx
    .updateTable("destinations")
    .set({ ...values, conditions: JSON.stringify(values.conditions), updated_at: sql`now()` })
    .where("hook_id", "=", id)
    .execute();
}

/** What decides whether a recording is sent now. */
export interface SendState extends DestinationRow {
  readonly is_present: boolean;
  readonly is_visible: boolean;
  readonly meets: boolean;
  readonly is_busy: boolean;
  readonly has_content: boolean;
  readonly recording_id: string;
  readonly waiting_since: Date;
  /** The attempt that was last begun. */
  readonly begun_delivery: string | null;
  readonly begun_attempt: number | null;
}

export async function findSendState(
  pool: pg.Pool,
  hookId: string,
  id: string,
): Promise<SendState | undefined> {
  const { rows } = await pool.query<SendState>({
    name: "delivery_send_state",
    text: `select h.*, t.kind, t.name, t.url, t.folder, t.link_people, t.conditions, t.template,
        ${isPresent} as is_present, ${canReceive("e")} as is_visible, coalesce(${meetsConditions}, false) as meets,
        ${inWork} as is_busy, ${hasContent} as has_content, x.delivery_id as begun_delivery, x.attempt as begun_attempt,
        d.created_at as waiting_since, d.recording_id
      from hooks h
        join deliveries d on d.hook_id = h.id and d.id = $2
        join destinations t on t.hook_id = h.id
        join workspaces w on w.id = h.workspace_id
        left join recordings r on r.id = d.recording_id and r.workspace_id = h.workspace_id
        cross join lateral (select null::uuid[] as audience, r.id as recording_id) e
        left join delivered_recordings x on x.recording_id = d.recording_id and x.hook_id = h.id
      where h.id = $1`,
    values: [hookId, id],
  });
  return rows[0];
}

export interface Attempt {
  readonly hookId: string;
  readonly recordingId: string;
  readonly deliveryId: string;
  /** From 1. */
  readonly attempt: number;
}

/** Notes that an attempt begins, before its request: if it ends without a result, it is not repeated. */
export async function beginAttempt(
  db: Executor,
  { hookId, recordingId, deliveryId, attempt }: Attempt,
): Promise<void> {
  await sql`
    insert into delivered_recordings (recording_id, hook_id, delivery_id, attempt)
    values (${recordingId}, ${hookId}, ${deliveryId}, ${attempt})
    on conflict (recording_id, hook_id) do update set delivery_id = excluded.delivery_id, attempt = excluded.attempt`.execute(
    db,
  );
}

/** Lets a recording be sent by a later change if it was suppressed before its first attempt. */
export async function forgetRecording(pool: pg.Pool, hookId: string, recordingId: string): Promise<void> {
  await pool.query("delete from delivered_recordings where hook_id = $1 and recording_id = $2", [
    hookId,
    recordingId,
  ]);
}

export const forgetDeletedRecordingsKind = defineRecurringJob({
  name: "forget_deleted_recordings",
  label: (i18n) => i18n.t("Forget deleted recordings"),
  every: "1 d",
  handler: async ({ db }) => {
    await db.pool.query(
      "delete from delivered_recordings x where not exists (select 1 from recordings r where r.id = x.recording_id)",
    );
  },
});

/** A recording that was sent, or waits. */
export interface AttemptRow {
  readonly id: string;
  readonly message_id: string;
  readonly recording_id: string;
  readonly title: string | null;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly created_at: Date;
  readonly due_at: Date;
  readonly last_at: Date | null;
  readonly last_status: number | null;
  readonly last_error: string | null;
  readonly last_response: string | null;
}

const attemptColumns = sql.raw(
  `d.id, d.message_id, d.recording_id, d.state, d.attempts, d.created_at, d.due_at,
   a.started_at as last_at, a.status as last_status, a.error as last_error`,
);

/** Title and response, for callers who can see the recording. */
function withRecording({ sees }: Principal) {
  return sql`
    left join lateral (select * from attempts where delivery_id = d.id and attempt = d.attempts offset 0) a on true
    left join lateral (
      select r.title from recordings r where r.id = d.recording_id and exists (
        select 1 from recording_grants g where g.recording_id = r.id and g.principal_id = any(${sees}::uuid[]))) v on true`;
}

export async function findDestinationAttempts(
  db: Executor,
  principal: Principal,
  hookId: string,
  page: { readonly before: string | null; readonly limit: number },
): Promise<AttemptRow[]> {
  const { rows } = await sql<AttemptRow>`
    select ${attemptColumns}, v.title, case when v.title is not null then a.response end as last_response
    from (
      select * from deliveries where hook_id = ${hookId}
        ${page.before === null ? sql`` : sql`and id < ${page.before}::bigint`}
      order by id desc limit ${page.limit}) d ${withRecording(principal)}
    order by d.id desc`.execute(db);
  return rows;
}

export async function findDestinationAttempt(
  db: Executor,
  principal: Principal,
  hookId: string,
  messageId: string,
): Promise<AttemptRow | undefined> {
  const { rows } = await sql<AttemptRow>`
    select ${attemptColumns}, v.title, case when v.title is not null then a.response end as last_response
    from deliveries d ${withRecording(principal)}
    where d.message_id = ${messageId} and d.hook_id = ${hookId}`.execute(db);
  return rows[0];
}
