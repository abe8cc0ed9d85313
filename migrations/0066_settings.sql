-- Settings that were made in the app. Those of the environment and of a file count before them.
create table settings (
  name text primary key,
  -- As an admin wrote it; both null: back to the default.
  value text,
  -- A secret, encrypted with PARLEY_SECRET.
  encrypted bytea,
  -- Null: a command, or a user who was deleted since.
  changed_by uuid references users (id) on delete set null,
  changed_at timestamptz not null default clock_timestamp(),
  check (value is null or encrypted is null)
);

-- The latest changes of settings, so that they can be undone.
create table setting_changes (
  id uuid primary key,
  names text[] not null,
  -- What they were before, as encrypted JSON.
  previous bytea not null,
  changed_by uuid references users (id) on delete set null,
  changed_at timestamptz not null default clock_timestamp(),
  undone_at timestamptz
);
create index setting_changes_by_time on setting_changes (changed_at);

alter table installation add column checklist_dismissed_at timestamptz;
