-- Participants that the Record button filled in from the meeting: undoing removes them too.
alter table recording_meetings add column filled_in_participant_ids uuid[] not null default '{}';
