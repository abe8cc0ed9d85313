-- Why transcriptions failed: the health of the speech model depends on its own failures alone.

alter table transcriptions
  -- What ended a failed transcription: the speech model, the recording, or a user. Null: it is not known.
  add column failure_cause text check (failure_cause in ('model', 'recording', 'user'));
