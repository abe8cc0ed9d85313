-- What users are notified of. Texts are read from what it is about, so that nothing is shown to those who lost access.
create table notifications (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  kind text not null,
  -- What happened: no user is notified of the same twice.
  key text not null,
  recording_id uuid references recordings (id) on delete cascade,
  -- The comment, upload or import it is about.
  subject_id uuid,
  actor_id uuid references users (id) on delete set null,
  data jsonb not null default '{}',
  created_at timestamptz(3) not null default clock_timestamp(),
  read_at timestamptz(3),
  -- When to send it by email; null: it is not, or was sent.
  email_at timestamptz(3),
  unique (user_id, key)
);
create index notifications_order on notifications (user_id, created_at desc, id desc);
create index notifications_unread on notifications (user_id, created_at desc) where read_at is null;
create index notifications_email on notifications (email_at) where email_at is not null;
create index notifications_recording on notifications (recording_id);
create index notifications_actor on notifications (actor_id);
create index notifications_age on notifications (created_at);

-- How users are notified of a kind; without a row, by its default.
create table notification_settings (
  user_id uuid not null references users (id) on delete cascade,
  kind text not null,
  channel text not null check (channel in ('off', 'app', 'daily', 'email')),
  primary key (user_id, kind)
);

-- New recordings whose transcription or summary is in the works, until their users are notified that they are ready.
create table awaited_recordings (
  recording_id uuid primary key references recordings (id) on delete cascade,
  created_at timestamptz(3) not null default clock_timestamp()
);
