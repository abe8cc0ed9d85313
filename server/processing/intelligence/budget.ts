import { sql } from "kysely";
import type { Executor } from "../../platform/db/database.ts";
import { defineRecurringJob } from "../../platform/jobs/define.ts";

/** The workspace has used up its daily tokens. The message is for users. */
export class BudgetSpent extends Error {
  /** When the limit resets. */
  readonly until: Date;
  constructor(message: string, until: Date) {
    super(message);
    this.until = until;
  }
}

/** The tokens reserved for a request. */
export interface Reservation {
  readonly workspaceId: string;
  /** The day of the reservation; the actual usage may be saved the day after. */
  readonly day: string;
  readonly tokens: number;
}

export interface Settings {
  readonly is_enabled: boolean;
  readonly max_tokens_per_day: number | null;
  /** How long threads of questions are kept. */
  readonly question_days: number;
  /** What runs write in unless a user chose another language; null: the meeting's. */
  readonly language: string | null;
}

/** The settings of the workspace's admins. */
export async function findSettings(db: Executor, workspaceId: string): Promise<Settings> {
  const { rows } = await sql<Settings>`
    select is_enabled, max_tokens_per_day::float8 as max_tokens_per_day, question_days, language
    from intelligence_settings where workspace_id = ${workspaceId}`.execute(db);
  return rows[0] ?? { is_enabled: true, max_tokens_per_day: null, question_days: 90, language: null };
}

/** The stricter of both limits; null: none. */
export function effectiveLimit(own: number | null, server: number | null): number | null {
  if (own === null || server === null) return own ?? server;
  return Math.min(own, server);
}

/**
 * Reserves tokens before a request, so that all workers together stay within the limit.
 * @returns the reservation, to be replaced by the actual usage; null when too few tokens are left today.
 */
export async function reserve(
  db: Executor,
  workspaceId: string,
  tokens: number,
  limit: number | null,
): Promise<Reservation | null> {
  await sql`
    insert into intelligence_usage (workspace_id, day)
    values (${workspaceId}, (now() at time zone 'UTC')::date) on conflict do nothing`.execute(db);
  const { rows } = await sql<{ day: string }>`
    update intelligence_usage set input_tokens = input_tokens + ${tokens}, requests = requests + 1
    where workspace_id = ${workspaceId} and day = (now() at time zone 'UTC')::date
      and (${limit}::bigint is null or input_tokens + output_tokens + ${tokens} <= ${limit}::bigint)
    returning day::text`.execute(db);
  return rows[0] === undefined ? null : { workspaceId, day: rows[0].day, tokens };
}

/** Replaces a reservation by the actual usage, and adds it to the usage of the recording's run, if it is for one. */
export async function settle(
  db: Executor,
  reservation: Reservation,
  used: { readonly input: number; readonly output: number },
  recordingId: string | null,
): Promise<void> {
  const { workspaceId, day, tokens } = reservation;
  await sql`
    with counted as (
      update intelligence_runs set input_tokens = input_tokens + ${used.input},
        output_tokens = output_tokens + ${used.output}
      where recording_id = ${recordingId})
    update intelligence_usage set input_tokens = greatest(0, input_tokens + ${used.input - tokens}),
      output_tokens = output_tokens + ${used.output}
    where workspace_id = ${workspaceId} and day = ${day}::date`.execute(db);
}

/** When daily limits reset: midnight UTC. */
export function nextDay(now: Date): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1));
}

/** How long usage is kept. */
const usageKeptDays = 400;

/** Deletes the usage of days long ago. */
async function deleteOldUsage(db: Executor): Promise<void> {
  await sql`delete from intelligence_usage where day < (now() - make_interval(days => ${usageKeptDays}))::date`.execute(
    db,
  );
}

export const deleteOldUsageKind = defineRecurringJob({
  name: "delete_old_usage",
  label: (i18n) => i18n.t("Delete old usage"),
  every: "1 h",
  guard: "age",
  handler: ({ db }) => deleteOldUsage(db.kysely),
});
