/** A gauge whose values are a column of a query. */
interface DatabaseGauge {
  readonly name: string;
  readonly help: string;
  /** The column with the values; a row with null has no value. */
  readonly column: string;
}

/** A statement that is run at a scrape, and the gauges that it fills. */
export interface DatabaseQuery {
  /** Label of `parley_metrics_query_success`. */
  readonly name: string;
  /** The columns that become labels. Their values must be few: states, queues; never names or ids without a limit. */
  readonly labels: readonly string[];
  /** Plain SQL. Must be bounded or use an index; a statement of more than two seconds is cancelled. */
  readonly sql: string;
  readonly gauges: readonly DatabaseGauge[];
  /** Reads a whole table: may take a minute, on a connection of its own. */
  readonly isSlow?: boolean;
}

/** Rows that may be many are counted up to this number. */
const maxCounted = 200_000;

/** Models don't work on recordings in the trash. */
const notInTrash = (alias: "t" | "i") =>
  `not exists (select 1 from trashed_recordings d where d.recording_id = ${alias}.recording_id)`;

/** Workspaces with their own label, by stored bytes; the others are `other`. */
const maxWorkspaces = 100;

/** Below this size of the table, succeeded uploads are counted exactly; above it, PostgreSQL's estimate is used. */
const exactBelowBytes = 64 * 1024 * 1024;

const secondsSince = (time: string): string =>
  `greatest(0, extract(epoch from clock_timestamp() - ${time}))::float8`;

/** A table of the names of queues, which are identifiers. */
const named = (queues: readonly string[]): string =>
  `unnest(array[${queues.map((name) => `'${name}'`).join(", ")}]) q (name)`;

/** A gauge on its own: the statement's column `value`. */
function gauge(
  name: string,
  help: string,
  labels: readonly string[],
  sql: string,
  isSlow = false,
): DatabaseQuery {
  return { name, labels, sql, gauges: [{ name, help, column: "value" }], isSlow };
}

/** Stored bytes by workspace and kind; reads a whole table. The workspace is `other` for all but the largest. */
export const storageBytesSql = `with used as (
    select workspace_id, case when clip_id is not null then 'clip'
        when split_part(key, '/', 3) like 'media.%' then 'media'
        when split_part(key, '/', 3) like 'storyboard%' then 'storyboard'
        when split_part(key, '/', 3) like 'thumbnail.%' then 'thumbnail'
        when split_part(key, '/', 3) like 'waveform.%' then 'waveform' else 'other' end as kind,
      sum(bytes)::float8 as bytes
    from stored_files group by 1, 2
    union all
    select workspace_id, 'upload', sum(reserved_bytes)::float8 from uploads
    where reserved_bytes > 0 and status in ('initial', 'awaiting', 'processing', 'staged', 'promoting') group by 1
  ), largest as (
    select workspace_id from used group by 1 order by sum(bytes) desc, workspace_id limit ${maxWorkspaces}
  )
  select coalesce(l.workspace_id::text, 'other') as workspace, kind, sum(bytes) as value
  from used left join largest l using (workspace_id) group by 1, 2`;

/**
 * Every metric that is read from the database. All describe the installation as a whole, so every process reports the
 * same value. To add one, add a `gauge` here and a row to the table in docs/operations/metrics.md.
 * @param queues the names of the jobs that are enqueued.
 */
export const databaseQueries = (queues: readonly string[]): readonly DatabaseQuery[] => [
  {
    name: "uploads",
    labels: ["state"],
    // Each branch uses a partial index of its states.
    sql: `with unfinished as (
        select status, updated_at from uploads where status in ('initial', 'awaiting', 'staged', 'failure')
        union all select status, updated_at from uploads where status = 'processing'
        union all select status, updated_at from uploads where status = 'promoting'
      ), counted as (
        select status, count(*) as uploads, min(updated_at) as oldest from unfinished group by status
        union all
        select 'success', case when pg_relation_size('uploads') < ${exactBelowBytes}
            then (select count(*) from uploads where status = 'success')
            else greatest(0, (select reltuples::bigint from pg_class where oid = 'uploads'::regclass)
              - (select count(*) from unfinished)) end, null
      )
      select state, coalesce(uploads, 0)::float8 as uploads,
        case when state in ('processing', 'promoting') then coalesce(${secondsSince("oldest")}, 0) end as age
      from unnest(array['initial', 'awaiting', 'processing', 'staged', 'promoting', 'success', 'failure']) state
        left join counted on status = state`,
    gauges: [
      { name: "parley_uploads", help: "Uploads by state.", column: "uploads" },
      {
        name: "parley_upload_oldest_age_seconds",
        help: "Time since the longest-waiting upload in this state last changed; 0 without one.",
        column: "age",
      },
    ],
  },
  {
    name: "jobs",
    labels: ["queue", "state"],
    sql: `with unfinished as (
        select name, case when run_id is not null then 'running' when is_stopped then 'stopped'
          when due_at > now() then 'delayed' else 'waiting' end as state
        from jobs
      )
      select q.name as queue, s.state, count(u.name)::float8 as jobs
      from ${named(queues)} cross join unnest(array['waiting', 'delayed', 'running', 'stopped']) s (state)
        left join unfinished u on u.name = q.name and u.state = s.state
      group by 1, 2`,
    gauges: [
      {
        name: "parley_jobs",
        help: "Jobs that have not ended, by queue; delayed: waiting for a retry; stopped: until someone retries them.",
        column: "jobs",
      },
    ],
  },
  gauge(
    "parley_job_oldest_age_seconds",
    "Time since the oldest job that waits, also for a retry, or is stopped was added; 0 without one.",
    ["queue"],
    `select q.name as queue, coalesce(${secondsSince("min(j.created_at)")}, 0) as value
      from ${named(queues)} left join jobs j on j.name = q.name and j.run_id is null
      group by 1`,
  ),
  {
    name: "models",
    labels: ["model", "state"],
    sql: `with unfinished as (
        select 'transcription' as model, case when status = 'running' then status when not_before > now() then 'delayed'
          else 'waiting' end as state from transcriptions t where status in ('pending', 'running') and ${notInTrash("t")}
        union all
        select 'language_model', case when status = 'running' then status
          when status = 'waiting' and not_before is null or not_before > now() then 'delayed' else 'waiting' end
        from intelligence_runs i where status <> 'done' and status <> 'failed' and ${notInTrash("i")}
      )
      select m.model, s.state, count(u.model)::float8 as recordings
      from unnest(array['transcription', 'language_model']) m (model)
        cross join unnest(array['waiting', 'delayed', 'running']) s (state)
        left join unfinished u on u.model = m.model and u.state = s.state
      group by 1, 2`,
    gauges: [
      {
        name: "parley_model_queue_recordings",
        help: "Recordings that wait for the speech or language model; delayed: until a later time, such as a retry.",
        column: "recordings",
      },
    ],
  },
  gauge(
    "parley_model_oldest_age_seconds",
    "Time since the longest-waiting recording was queued for the model; 0 without one. Leaves out recordings that wait for a budget or a switched-off model.",
    ["model"],
    `select 'transcription' as model, coalesce(${secondsSince("min(created_at)")}, 0) as value
        from transcriptions t where status in ('pending', 'running') and ${notInTrash("t")}
      union all
      select 'language_model', coalesce(${secondsSince("min(requested_at)")}, 0)
        from intelligence_runs i where status <> 'done' and (status in ('pending', 'running')
          or status = 'waiting' and attempts > 0) and ${notInTrash("i")}`,
  ),
  gauge(
    "parley_backup_age_seconds",
    "Time since a backup, or the verification of one, last succeeded; without one, since the installation was created.",
    ["kind"],
    `select kind, ${secondsSince("coalesce(max(r.finished_at), (select min(applied_at) from schema_migrations))")} as value
      from unnest(array['backup', 'verify']) kind left join (
          select kind, finished_at from backup_runs where state = 'succeeded') r using (kind) group by 1`,
  ),
  gauge(
    "parley_backup_failed",
    "1 if the last backup, or the last verification of one, failed; otherwise 0.",
    ["kind"],
    `select kind, coalesce((
        select (state = 'failed')::integer from backup_runs r
        where r.kind = k.kind and state <> 'running' order by started_at desc limit 1), 0)::float8 as value
      from unnest(array['backup', 'verify']) k (kind)`,
  ),
  gauge(
    "parley_backup_missing_files",
    "Files that the last backup lacks, because they were missing or damaged in the file store.",
    [],
    `select coalesce((select missing_files from backup_runs where kind = 'backup' and state = 'succeeded'
      order by finished_at desc limit 1), 0)::float8 as value`,
  ),
  gauge(
    "parley_webhooks",
    "Webhooks by state; failing: the last attempt failed.",
    ["state"],
    `select s.state, count(h.id)::float8 as value
      from unnest(array['healthy', 'failing', 'disabled']) s (state) left join hooks h
        on s.state = case when h.disabled_at is not null then 'disabled' when h.failing_since is not null then 'failing'
          else 'healthy' end
      group by 1`,
  ),
  gauge(
    "parley_webhook_deliveries_pending",
    `Deliveries that are not finished, of enabled webhooks, also those that wait for a retry; counted up to ${maxCounted}.`,
    ["receiver"],
    `with pending as (
        select h.failing_since is null as is_healthy from hooks h
          join deliveries d on d.hook_id = h.id and d.state = 'pending'
        where h.next_due_at is not null and h.disabled_at is null limit ${maxCounted}
      )
      select s.receiver, count(p.is_healthy)::float8 as value
      from (values ('healthy', true), ('failing', false)) s (receiver, is_healthy)
        left join pending p using (is_healthy)
      group by 1`,
  ),
  gauge(
    "parley_webhook_oldest_due_age_seconds",
    "Time since the oldest delivery that should have been sent was due; 0 without one.",
    ["receiver"],
    // The hundred that are due longest; next_due_at may be too early, the delivery's own time is exact.
    `select s.receiver, coalesce((
        select ${secondsSince("min(due)")} from (
          select parley_next_due(h.id) as due from (
            select id from hooks where next_due_at <= now() and disabled_at is null
              and (failing_since is null) = s.is_healthy order by next_due_at limit 100) h) d
        where due <= now()), 0) as value
      from (values ('healthy', true), ('failing', false)) s (receiver, is_healthy)`,
  ),
  gauge(
    "parley_webhook_events_waiting",
    `Events for which no deliveries were created yet; counted up to ${maxCounted}.`,
    [],
    `select count(*)::float8 as value from (select 1 from waiting_events limit ${maxCounted}) waiting`,
  ),
  gauge(
    "parley_database_size_bytes",
    "Size of the database on disk.",
    [],
    "select pg_database_size(current_database())::float8 as value",
    true,
  ),
  gauge(
    "parley_storage_bytes",
    `Stored bytes of the ${maxWorkspaces} largest workspaces and all others together; upload: files of unfinished uploads.`,
    ["workspace", "kind"],
    storageBytesSql,
    true,
  ),
];
