-- Deleting what is old by rule, keeping what must be kept, and forgetting a person.

create table retention_rules (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  name text not null,
  -- Recordings that began longer ago are deleted, if everything named below fits.
  older_than_days integer not null check (older_than_days between 1 and 36500),
  team_id uuid references teams (id) on delete cascade,
  meeting_type_id uuid references meeting_types (id) on delete cascade,
  tag text,
  scope text check (scope in ('internal', 'external')),
  is_enabled boolean not null,
  -- A rule that was made or changed acts from then on, so that a mistake can be seen in time.
  acts_from timestamptz(3) not null,
  created_by uuid not null references users (id),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index retention_rules_workspace on retention_rules (workspace_id, created_at, id);

-- A recording that nobody and no rule may delete.
create table legal_holds (
  recording_id uuid primary key references recordings (id),
  workspace_id uuid not null references workspaces (id),
  reason text not null,
  placed_by uuid not null references users (id),
  placed_at timestamptz(3) not null default now()
);
create index legal_holds_workspace on legal_holds (workspace_id, placed_at, recording_id);

-- What rules have deleted: numbers and ids alone.
create table retention_receipts (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  recording_id uuid not null,
  -- As it was; the rule may have gone since.
  rule_id uuid not null,
  rule_name text not null,
  receipt jsonb not null,
  deleted_at timestamptz(3) not null default now()
);
create index retention_receipts_workspace on retention_receipts (workspace_id, deleted_at, id);

-- A person to be forgotten, and what was done. Who it is, is encrypted until all is done, and then removed.
create table erasures (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  requested_by uuid not null references users (id),
  -- Their account, which is empty by then; null: they had none.
  user_id uuid references users (id),
  -- JSON: email, and the names of their account.
  person bytea,
  -- Whether recordings the person took part in are deleted, or the person is taken out of them.
  recordings text not null check (recordings in ('anonymise', 'delete')),
  state text not null default 'pending' check (state in ('pending', 'running', 'done')),
  receipt jsonb not null default '{}',
  created_at timestamptz(3) not null default now(),
  finished_at timestamptz(3)
);
create index erasures_workspace on erasures (workspace_id, created_at, id);
