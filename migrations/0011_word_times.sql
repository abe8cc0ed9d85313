-- When each word was spoken.

alter table transcript_segments
  -- For each word of the text as transcribed: start and end in ms from the start of the segment; both null where the
  -- time is not known. Edits leave them as they are. Null: no word has a time.
  add column word_times integer[];
