-- Imports from services that wait give their slot to others and are resumed.

alter table import_runs
  -- Set while the run waits for its service or another import; its job starts again then.
  add column resume_at timestamptz(3);
create index import_runs_waiting on import_runs (resume_at) where resume_at is not null;
