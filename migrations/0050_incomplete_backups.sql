-- Backups that lack files: a run succeeds without those that the file store does not have as they were written.
alter table backup_runs
  -- How many files the backup lacks; null: a run of an earlier version, or no backup.
  add column missing_files integer check (missing_files >= 0),
  -- The keys of the first of them.
  add column first_missing text[];
