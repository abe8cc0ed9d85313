-- Clips that users download, besides those that public links show.

alter table clips
  -- Until when the clip is kept for a user who asked for it; null: only links need it.
  add column wanted_until timestamptz(3);
