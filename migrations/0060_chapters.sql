-- Chapters of recordings: [{title, start, quote}], ascending. Runs of the language model keep those a user wrote.
alter table recordings add column ai_chapters jsonb,
  add column chapters_by_hand boolean not null default false;
