-- Highlights get a maker and a date of change, stories come along, and what belongs to a recording is found by its id.

alter table highlights
  -- Who made it; null where nobody is known. May change and delete it besides the recording's recorders.
  add column created_by uuid references users (id) on delete set null,
  add column updated_at timestamptz(3) not null default now();

create table stories (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  created_by uuid references users (id) on delete set null,
  title text not null,
  description text not null default '',
  banner_image_url text,
  tags text[] not null default '{}',
  is_public boolean not null default false,
  -- Counts how often it was made public: the public address is derived from it, so one that was taken back stays dead.
  public_version integer not null default 0,
  created_at timestamptz(3) not null default now(),
  last_edited_at timestamptz(3) not null default now()
);
create index stories_workspace on stories (workspace_id, created_at, id);

create table story_highlights (
  story_id uuid not null references stories (id) on delete cascade,
  highlight_id uuid not null references highlights (id) on delete cascade,
  -- The order; may have gaps.
  position integer not null,
  primary key (story_id, highlight_id)
);
create index story_highlights_highlight on story_highlights (highlight_id);

-- Deleting a recording takes its upload and its events along, and the deliveries of those are found by them.
create index uploads_recording on uploads (recording_id) where recording_id is not null;
create index events_recording on events (recording_id) where recording_id is not null;
create index deliveries_event on deliveries (event_id) where event_id is not null;
