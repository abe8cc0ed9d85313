-- The calendar_event that a recording got from its meeting: undoing leaves one that was changed since.
alter table recording_meetings add column applied_event jsonb;
