-- Files of watched folders (PARLEY_WATCH_DIRS): what has become of each, so that none is imported twice.
create table watched_files (
  workspace_id uuid not null references workspaces (id),
  -- SHA-256 of folder and path.
  path_hash bytea not null,
  -- The folder as PARLEY_WATCH_DIRS names it.
  folder text not null,
  -- The path below it; null once the file is a recording, because names of files may be personal data.
  path text,
  -- Changes with the names, sizes and times of the file and of what belongs to it.
  mark bytea not null,
  changed_at timestamptz(3) not null default clock_timestamp(),
  seen_at timestamptz(3) not null default clock_timestamp(),
  -- waiting: it may still be written to. ready: a worker may take it. pending: its upload is not a recording yet.
  state text not null default 'waiting' check (state in ('waiting', 'ready', 'pending', 'done', 'failed')),
  -- SHA-256 of the owner's id and the content.
  content_hash bytea,
  upload_id uuid references uploads (id) on delete set null,
  -- Attempts since it became ready.
  attempts integer not null default 0,
  -- No worker takes it before: one that works on it moves this forward.
  next_at timestamptz(3) not null default clock_timestamp(),
  -- Why it failed, or waits for its next attempt.
  error text,
  has_error_file boolean not null default false,
  updated_at timestamptz(3) not null default clock_timestamp(),
  primary key (workspace_id, path_hash)
);
create index watched_files_open on watched_files (next_at) where state in ('ready', 'pending');
create index watched_files_waiting on watched_files (seen_at) where state = 'waiting';
create index watched_files_content on watched_files (workspace_id, content_hash) where content_hash is not null;
create index watched_files_upload on watched_files (upload_id) where upload_id is not null;
