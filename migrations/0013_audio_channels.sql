-- Recordings whose channels carry one voice each are transcribed channel by channel.

alter table transcription_chunks
  -- The channel of the audio, from 0; null: all channels mixed.
  add column channel smallint;
