-- How the start of a recording is known, where nothing states it: `upload` (only when it was uploaded), `modified` (when its
-- file last changed), `user` (a user changed it). Null: its sender, file or name states it. A meeting is matched by the time of
-- a recording only where this says something about the recording.
alter table recordings add column start_ground text;
