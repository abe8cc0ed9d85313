-- The points of a summary that the language model wrote: [{heading, text, quote, start}], each with the words of the transcript
-- that prove it. Null: the summary was imported, or written before. ai_summary is their Markdown.
alter table recordings add column ai_summary_points jsonb;

-- Points prove their own summary only, so another text removes them, also one that a process of the previous version writes.
create function parley_drop_points() returns trigger language plpgsql as $$
begin
  new.ai_summary_points := null;
  return new;
end $$;
create trigger points_follow_summary before update of ai_summary on recordings for each row
  when (new.ai_summary is distinct from old.ai_summary
    and new.ai_summary_points is not distinct from old.ai_summary_points)
  execute function parley_drop_points();
