-- When each folder of PARLEY_WATCH_DIRS was last listed, for the System page. One row for each.
create table watched_folders (
  -- As PARLEY_WATCH_DIRS names it.
  folder text primary key,
  -- When a worker last listed all of it.
  scanned_at timestamptz(3) not null default clock_timestamp(),
  -- Why it, or one of its folders, can't be imported; null: it can.
  problem text
);

-- For counts by folder, for failed files, and for files that are gone.
create index watched_files_folder on watched_files (folder, state, seen_at);
