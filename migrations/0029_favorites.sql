-- Recordings that a user marked as favorites.
create table favorite_recordings (
  workspace_id uuid not null references workspaces (id),
  user_id uuid not null references users (id) on delete cascade,
  recording_id uuid not null references recordings (id) on delete cascade,
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (workspace_id, user_id, recording_id)
);
create index favorite_recordings_recording on favorite_recordings (recording_id);
create index favorite_recordings_user on favorite_recordings (user_id);
