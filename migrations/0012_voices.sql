-- Speakers of recordings that the built-in engine tells apart.

alter table transcription_chunks
  -- The voices of this chunk and when each is heard; null: not told apart (yet).
  add column voices jsonb;
