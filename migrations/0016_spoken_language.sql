-- The language that is spoken and the words that a speech model should know: for a workspace, a meeting type or one upload.

alter table workspaces
  -- Language code such as en; null: PARLEY_TRANSCRIPTION_LANGUAGE, or the model detects it.
  add column spoken_language text,
  add column vocabulary text[] not null default '{}';

alter table meeting_types
  -- Null: the workspace's.
  add column spoken_language text,
  add column vocabulary text[] not null default '{}';

alter table uploads
  -- Null: that of the meeting type.
  add column spoken_language text;

alter table transcriptions
  -- Chosen for this recording; null: that of the meeting type.
  add column spoken_language text,
  -- What the last run used: model, language and vocabulary; null: unknown.
  add column used jsonb;
