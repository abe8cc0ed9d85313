-- Backups, and restored installations.

-- Backups and their verifications. A row that is `running` while nobody holds the lock of backups was interrupted.
create table backup_runs (
  id uuid primary key default gen_random_uuid(),
  kind text not null check (kind in ('backup', 'verify')),
  -- The folder or bucket, as it was given.
  destination text not null,
  -- The time it was due by the schedule; null: an operator ran it.
  scheduled_for timestamptz(3),
  -- The backup it wrote or verified; null: it ended before.
  backup_id text,
  state text not null default 'running' check (state in ('running', 'succeeded', 'failed')),
  started_at timestamptz(3) not null default now(),
  finished_at timestamptz(3),
  -- Bytes of the backup, and how many of them this run copied.
  bytes bigint,
  copied_bytes bigint,
  error text,
  -- Several workers: one runs what is due.
  unique (kind, scheduled_for)
);
create index backup_runs_started on backup_runs (started_at);

alter table installation
  -- The backup from which this database was restored; null: it never was.
  add column restored_backup text,
  -- Since when webhooks, mail and deletion by age are held back, because it was restored; null: they are not.
  add column quarantined_at timestamptz(3),
  -- When admins were last told by mail that a backup failed.
  add column backup_failure_mailed_at timestamptz(3);
