-- Recordings that are moved here from other services and exports.

alter table workspaces
  -- Whether the ids that recordings had elsewhere find them.
  add column resolves_old_ids boolean not null default false;

-- Imports from another service or an export: one row for each time it was run.
create table import_runs (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  -- The admin who owns recordings whose recorders have no user here; their uploads are this user's.
  created_by uuid not null references users (id),
  -- The kind of source, as `parley import --from` names it.
  source text not null,
  -- The URL of the service, or a name of the folder.
  origin text not null,
  -- Its access token, encrypted; null: the command line has it, or the run has ended.
  token bytea,
  is_dry_run boolean not null,
  state text not null default 'pending' check (state in ('pending', 'running', 'done', 'failed', 'canceled')),
  -- What was counted beforehand.
  counts jsonb not null default '{}',
  -- Why it failed, shown to admins.
  error text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  finished_at timestamptz(3)
);
create unique index import_runs_by_workspace on import_runs (workspace_id, created_at desc, id desc);

-- The recordings of these sources: what became of each, so that none is imported twice, and by which id it was known there.
create table import_items (
  workspace_id uuid not null references workspaces (id),
  -- Source and origin of the runs.
  source_key text not null,
  old_id text not null,
  run_id uuid not null references import_runs (id),
  -- pending: its upload has not become a recording yet.
  state text not null check (state in ('pending', 'done', 'failed')),
  upload_id uuid references uploads (id) on delete set null,
  -- Null once it is deleted; it is not imported again.
  recording_id uuid references recordings (id) on delete set null,
  -- Why it was not imported.
  reason text,
  -- What of it was not imported, as codes with numbers: {"recorders_without_user": 1}.
  omitted jsonb not null default '{}',
  updated_at timestamptz(3) not null default now(),
  primary key (workspace_id, source_key, old_id)
);
create index import_items_run on import_items (run_id, state);
create index import_items_upload on import_items (upload_id) where upload_id is not null;
create index import_items_recording on import_items (recording_id) where recording_id is not null;
create index import_items_old_id on import_items (workspace_id, old_id);
