-- The ground: workspaces and who is in them, recordings and who may see them, uploads, the outbox.
-- Every row belongs to one workspace and nothing crosses. Times have millisecond precision, as the API shows them.

create extension if not exists pg_trgm;
create extension if not exists btree_gin;
create extension if not exists unaccent;

-- How titles are compared: without case, accents and compatibility forms.
create function parley_fold(value text) returns text
  language sql immutable strict parallel safe
  return lower(unaccent('unaccent'::regdictionary, normalize(value, NFKC)));

-- A "contains" pattern for LIKE from what a person typed.
create function parley_contains(value text) returns text
  language sql immutable strict parallel safe
  return '%' || replace(replace(replace(parley_fold(value), '\', '\\'), '%', '\%'), '_', '\_') || '%';

-- A timestamp as the API writes it. Stable, as to_char is, or the planner would not inline it.
create function parley_timestamp(value timestamptz) returns text
  language sql stable strict parallel safe
  return to_char(value at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

create table workspaces (
  id uuid primary key,
  name text not null,
  email_domains text[] not null default '{}',
  -- The principal that stands for all members, in recording_grants.
  members_id uuid not null unique,
  created_at timestamptz(3) not null default now()
);

create table users (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  name text not null,
  email text not null,
  email_key text not null generated always as (lower(email)) stored unique,
  role text not null check (role in ('admin', 'member')),
  password_hash text,
  deactivated_at timestamptz(3),
  created_at timestamptz(3) not null default now()
);
create index users_workspace on users (workspace_id, name, id);

create table teams (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  name text not null,
  name_key text not null generated always as (parley_fold(name)) stored,
  created_at timestamptz(3) not null default now(),
  unique (workspace_id, name_key)
);

create table team_members (
  team_id uuid not null references teams (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  primary key (team_id, user_id)
);
create index team_members_user on team_members (user_id);

create table meeting_types (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  name text not null,
  name_key text not null generated always as (parley_fold(name)) stored,
  scope text not null check (scope in ('internal', 'external')),
  -- The one of its scope that recordings get when nothing finer is known.
  is_default boolean not null default false,
  position integer not null,
  unique (workspace_id, name_key)
);
create unique index meeting_types_default on meeting_types (workspace_id, scope) where is_default;

create table access_tokens (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  -- Whose token it is; for a workspace token the user who issued it.
  user_id uuid not null references users (id),
  type text not null check (type in ('personal_access_token', 'workspace_access_token')),
  name text not null,
  -- SHA-256 of the token; the token itself is never stored.
  hash bytea not null unique,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3),
  last_used_at timestamptz(3),
  revoked_at timestamptz(3)
);
create index access_tokens_user on access_tokens (user_id);

create table recordings (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  title text not null,
  -- Cut to what fits into an index row; folding can make a text many times longer.
  title_key text not null generated always as (left(parley_fold(title), 600)) stored,
  start_datetime timestamptz(3) not null,
  end_datetime timestamptz(3) not null,
  duration_ms integer not null check (duration_ms >= 0),
  media_type text not null check (media_type in ('audio', 'transcript', 'video')),
  source text not null check (source in ('aircall', 'local_capture', 'meet', 'teams', 'upload', 'webex', 'zoom', 'other')),
  share_state text not null check (share_state in ('public', 'workspace', 'restricted')),
  meeting_type_id uuid references meeting_types (id),
  -- Whether somebody from outside took part.
  external boolean not null,
  tags text[] not null default '{}',
  transcript_language text,
  -- Counts changes of the transcript, so that a rendered one can be kept as long as it is true.
  transcript_version integer not null default 0,
  calendar_event jsonb,
  crm jsonb,
  ai_summary text,
  ai_action_items jsonb,
  ai_template_sections jsonb,
  screenshares jsonb,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index recordings_meeting_type on recordings (meeting_type_id);

create table recording_recorders (
  recording_id uuid not null references recordings (id) on delete cascade,
  user_id uuid not null references users (id),
  position integer not null,
  primary key (recording_id, user_id)
);
create index recording_recorders_user on recording_recorders (user_id);

create table participants (
  id uuid primary key,
  recording_id uuid not null references recordings (id) on delete cascade,
  workspace_id uuid not null references workspaces (id),
  position integer not null,
  name text not null,
  email text,
  email_key text generated always as (lower(email)) stored,
  phone text,
  scope text not null check (scope in ('internal', 'external', 'unknown')),
  -- Heard or seen in the recording.
  confirmed_attendee boolean not null,
  -- Took part as far as is known, heard or not; the attendance filter goes by it.
  attended boolean not null,
  crm_contact_id text,
  observed_join_time timestamptz(3),
  observed_leave_time timestamptz(3)
);
create index participants_recording on participants (recording_id, position);
create index participants_email on participants (workspace_id, email_key) where email_key is not null;

create table recording_user_shares (
  recording_id uuid not null references recordings (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  created_at timestamptz(3) not null default now(),
  primary key (recording_id, user_id)
);
create index recording_user_shares_user on recording_user_shares (user_id);

create table recording_teams (
  recording_id uuid not null references recordings (id) on delete cascade,
  team_id uuid not null references teams (id) on delete cascade,
  created_at timestamptz(3) not null default now(),
  primary key (recording_id, team_id)
);
create index recording_teams_team on recording_teams (team_id);

create table private_notes (
  recording_id uuid not null references recordings (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  text text not null,
  primary key (recording_id, user_id)
);

create table highlights (
  id uuid primary key,
  recording_id uuid not null references recordings (id) on delete cascade,
  text text not null,
  transcript text not null default '',
  speakers text[] not null default '{}',
  start_ms integer not null,
  duration_ms integer not null,
  tags text[] not null default '{}',
  created_at timestamptz(3) not null default now()
);
create index highlights_recording on highlights (recording_id, start_ms, id);

create table transcript_segments (
  recording_id uuid not null references recordings (id) on delete cascade,
  position integer not null,
  participant_id uuid references participants (id) on delete set null,
  speaker text not null,
  start_ms integer not null,
  end_ms integer not null,
  text text not null,
  primary key (recording_id, position)
);
create index transcript_segments_participant on transcript_segments (participant_id);

-- Who may see what: one row for each recording and each principal that sees it. A principal is a user, a
-- team, all members of a workspace (workspaces.members_id) or the workspace itself (workspaces.id, for its
-- tokens, which see everything). The columns that lists filter by are copied here, so that finding what a
-- person sees never touches what that person does not see.
create table recording_grants (
  principal_id uuid not null,
  start_datetime timestamptz(3) not null,
  recording_id uuid not null references recordings (id) on delete cascade,
  title_key text not null,
  meeting_type_id uuid,
  external boolean not null,
  -- With the columns that lists filter by, so that going through a stream reads the index alone.
  primary key (principal_id, start_datetime, recording_id) include (title_key, meeting_type_id, external)
);
create index recording_grants_recording on recording_grants (recording_id, principal_id);
create index recording_grants_meeting_type on recording_grants (principal_id, meeting_type_id, start_datetime, recording_id);
create index recording_grants_title on recording_grants using gin (principal_id, title_key gin_trgm_ops);

create table uploads (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  -- Who made it; for a workspace token the user who issued the token.
  created_by uuid not null references users (id),
  scope text not null check (scope in ('personal', 'workspace')),
  media_type text not null check (media_type in ('audio', 'transcript', 'video')),
  title text not null,
  status text not null check (status in ('initial', 'awaiting', 'processing', 'staged', 'promoting', 'success', 'failure')),
  auto_promote boolean not null,
  start_datetime timestamptz(3),
  team_id uuid references teams (id) on delete set null,
  recorder_ids uuid[] not null,
  participants jsonb not null default '[]',
  recording_id uuid references recordings (id) on delete set null,
  failure_reason text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index uploads_workspace on uploads (workspace_id, created_at, id);
create index uploads_person on uploads (created_by, created_at, id) where scope = 'personal';
create index uploads_unfinished on uploads (updated_at) where status in ('initial', 'awaiting', 'staged', 'failure');
create index uploads_promoting on uploads (updated_at) where status = 'promoting';

-- Beside the upload, since a transcript is large and few reads ask for it.
create table upload_transcripts (
  upload_id uuid primary key references uploads (id) on delete cascade,
  language text not null,
  segments jsonb not null,
  -- Size of the segments as JSON, so that a page of uploads can be kept from growing without bound.
  bytes integer not null
);

-- The outbox: what happened, written in the transaction that made it happen.
create table events (
  id bigint generated always as identity primary key,
  event_id uuid not null unique,
  workspace_id uuid not null references workspaces (id),
  type text not null,
  subject_id uuid not null,
  -- What later changes would overwrite: the state of the subject at this very event.
  data jsonb not null,
  -- When it was written, not when its transaction began: times of one subject never run backwards.
  occurred_at timestamptz(3) not null default clock_timestamp(),
  -- Its transaction: ids are given before the commit, so a reader goes on only past what no open one may still add.
  xid xid8 not null default pg_current_xact_id()
);
create index events_workspace on events (workspace_id, id);
create index events_subject on events (subject_id, id);

-- Requests counted per token or address and minute, shared by all processes. Losing it costs nothing.
create unlogged table rate_limit_counters (
  key text not null,
  window_start timestamptz(0) not null,
  count integer not null,
  primary key (key, window_start)
);
