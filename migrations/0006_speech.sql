-- The built-in speech engine.

alter table transcriptions
  -- What a running transcription does; null: it has not begun.
  add column stage text check (stage in ('audio', 'words', 'speakers'));
