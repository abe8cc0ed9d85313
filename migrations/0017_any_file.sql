-- Progress of conversions, and tracks of speakers.

alter table uploads
  -- How much of its job is done, from 0 to 1; null: unknown.
  add column work_progress real;

alter table recording_media
  -- The speakers whose sound is in the channels of speech.webm, in order; an empty name is unknown. Null: there is no such
  -- file.
  add column speaker_tracks text[];
