-- What a language model makes of transcripts: what is under way, what it may cost, and the sections that admins define.

create table section_templates (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  title text not null,
  -- How allowed_sections compares: without case.
  title_key text not null generated always as (lower(normalize(title, NFKC))) stored,
  kind text not null check (kind in ('text', 'bullets', 'checklist', 'table', 'question-answer')),
  prompt text not null,
  position integer not null,
  is_enabled boolean not null default true,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  unique (workspace_id, title_key)
);

-- What an admin decided; without a row the model is used, with no limit but the server's.
create table intelligence_settings (
  workspace_id uuid primary key references workspaces (id),
  is_enabled boolean not null default true,
  max_tokens_per_day bigint check (max_tokens_per_day > 0),
  updated_at timestamptz(3) not null default now()
);

-- Tokens by workspace and day (UTC), as the model's server counted them, estimated where it did not say. Includes
-- those put aside for requests under way.
create table intelligence_usage (
  workspace_id uuid not null references workspaces (id),
  day date not null,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  requests integer not null default 0,
  primary key (workspace_id, day)
);

create table intelligence_runs (
  recording_id uuid primary key references recordings (id) on delete cascade,
  -- waiting: goes on by itself at not_before. failed: somebody has to look at it; where not_before is set, it is tried
  -- again all the same.
  status text not null check (status in ('pending', 'running', 'waiting', 'done', 'failed')),
  -- Counts how often it was asked for: what began before the last time is not written.
  requested integer not null default 1,
  -- Failures since a request last succeeded, and when the first of them was.
  attempts integer not null default 0,
  failing_since timestamptz(3),
  not_before timestamptz(3),
  -- Why it waits or failed, in words for people.
  last_error text,
  -- What of the result could not be made although the rest could, in words for people.
  notes text[] not null default '{}',
  -- What the last run put into the recording, so that a later run tells its own from what people chose since.
  written_title text,
  written_meeting_type_id uuid references meeting_types (id) on delete set null,
  model text,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  requested_at timestamptz(3) not null default now(),
  finished_at timestamptz(3),
  updated_at timestamptz(3) not null default now()
);
create index intelligence_runs_due on intelligence_runs (not_before) where status <> 'done';

-- Answers of the model in a run that is not finished, by a hash of what was asked: killed at any moment, a run does not
-- ask, and pay, twice.
create table intelligence_steps (
  recording_id uuid not null references intelligence_runs (recording_id) on delete cascade,
  key text not null,
  answer jsonb not null,
  primary key (recording_id, key)
);

alter table uploads
  -- Whether the title was made by this program, because none was given.
  add column has_default_title boolean not null default false;

alter table recordings
  -- The title that was made because none was given; null: somebody gave one. While it stands, a model may give a better one.
  add column default_title text,
  -- Whether a person chose the meeting type: then no model changes it.
  add column has_chosen_meeting_type boolean not null default false;
