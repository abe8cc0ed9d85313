-- Connections to services that report new recordings by webhook: Zoom, Attendee and Vexa.

create table connections (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  kind text not null check (kind in ('zoom', 'attendee', 'vexa')),
  name text not null,
  -- The service's own URL.
  base_url text not null,
  -- Hosts that its files may come from, besides the one of base_url.
  media_hosts text[] not null,
  -- JSON, encrypted: the secret of its webhooks and the credentials for its API.
  secrets bytea not null,
  -- The admin who owns recordings whose host has no user here.
  created_by uuid not null references users (id),
  created_at timestamptz(3) not null default clock_timestamp(),
  -- When a webhook with a valid signature last arrived.
  received_at timestamptz(3)
);
create unique index connections_workspace on connections (workspace_id, id);

-- Events that these services have sent, stored before they are acknowledged; deleted after 30 days.
create table connection_events (
  id uuid primary key,
  connection_id uuid not null references connections (id) on delete cascade,
  -- A hash of what identifies the event: repeated deliveries are one row.
  event_key bytea not null,
  -- A hash of the meeting's id.
  meeting_key bytea not null,
  type text not null,
  -- The event as JSON, encrypted; null once it is no longer needed.
  payload bytea,
  -- importing: handed to the upload, which has not become a recording yet.
  state text not null default 'pending' check (state in ('pending', 'importing', 'done', 'ignored', 'failed')),
  reason text,
  attempts integer not null default 0,
  -- When a pending event is due.
  next_at timestamptz(3) not null default clock_timestamp(),
  deliveries integer not null default 1,
  upload_id uuid references uploads (id) on delete set null,
  created_at timestamptz(3) not null default clock_timestamp(),
  updated_at timestamptz(3) not null default clock_timestamp()
);
create unique index connection_events_key on connection_events (connection_id, event_key);
create index connection_events_latest on connection_events (connection_id, created_at desc, id desc);
create index connection_events_open on connection_events (next_at) where state in ('pending', 'importing');
create index connection_events_created_at on connection_events (created_at);
create index connection_events_upload on connection_events (upload_id) where upload_id is not null;

-- Meetings that were imported, so that none is imported twice, whatever arrives again.
create table connection_meetings (
  workspace_id uuid not null references workspaces (id),
  -- Kind and URL of the service.
  source text not null,
  meeting_key bytea not null,
  -- Null once the recording is deleted; it is not imported again.
  upload_id uuid references uploads (id) on delete set null,
  -- Whether it came with a transcript, or has got one since.
  has_transcript boolean not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (workspace_id, source, meeting_key)
);
create index connection_meetings_upload on connection_meetings (upload_id) where upload_id is not null;
