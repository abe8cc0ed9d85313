-- Limits how many clips are prepared for one user at a time.

alter table clips
  -- The user who last asked for it; null: only links need it.
  add column wanted_by uuid references users (id);
