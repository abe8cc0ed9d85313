-- The Markdown files that deliveries wrote, so that each follows its recording and no other file is overwritten. No foreign
-- keys: a file is removed after its recording, and kept, but still found by an erasure, after its delivery.
create table written_files (
  hook_id uuid not null,
  recording_id uuid not null,
  workspace_id uuid not null,
  -- Of the file store.
  key text not null unique,
  -- Of the content that was written; null: that was not confirmed yet.
  sha256 bytea,
  -- Of the content that is being written.
  next_sha256 bytea,
  -- A user changed the file; it is never overwritten, only removed.
  is_edited boolean not null default false,
  written_at timestamptz(3) not null default now(),
  primary key (hook_id, recording_id, key)
);
create index written_files_recording on written_files (recording_id);
