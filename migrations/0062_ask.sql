-- Questions about meetings, with their answers. They are private to the user who asked.
create table ask_threads (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  -- The recording it is about; null: all that the user can see.
  recording_id uuid references recordings (id) on delete cascade,
  title text not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  -- The last question.
  updated_at timestamptz(3) not null default clock_timestamp(),
  unique (workspace_id, id)
);
create index ask_threads_user on ask_threads (user_id, updated_at desc, id desc);
create index ask_threads_recording on ask_threads (recording_id) where recording_id is not null;
create index ask_threads_updated_at on ask_threads (workspace_id, updated_at);

-- How long threads are kept after their last question.
alter table intelligence_settings add column question_days integer not null default 90 check (question_days > 0);

create table ask_turns (
  thread_id uuid not null references ask_threads (id) on delete cascade,
  number integer not null,
  question text not null,
  state text not null default 'running' check (state in ('running', 'done', 'failed')),
  -- Why there is no answer, or not all of it.
  message text,
  -- Statements without proof, which were not shown.
  left_out integer not null default 0,
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (thread_id, number)
);

create table ask_statements (
  thread_id uuid not null references ask_threads (id) on delete cascade,
  turn integer not null,
  position integer not null,
  recording_id uuid not null references recordings (id) on delete cascade,
  text text not null,
  quote text not null,
  start_ms integer not null,
  end_ms integer not null,
  primary key (thread_id, turn, position)
);
create index ask_statements_recording on ask_statements (recording_id);

-- One question of a user at a time. The process that answers it extends its lease; that of a killed one expires.
create table ask_leases (
  user_id uuid primary key references users (id) on delete cascade,
  lease_id uuid not null,
  thread_id uuid not null,
  expires_at timestamptz not null
);
