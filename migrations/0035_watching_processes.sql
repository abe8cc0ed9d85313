-- Which folders a process watches: failed files of other folders can't be retried.
alter table processes
  -- As PARLEY_WATCH_DIRS names them.
  add column watched_folders text[] not null default '{}';
