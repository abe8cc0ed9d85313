-- Transcripts made by a speech model: what is under way, and what of it is finished.

create table transcriptions (
  recording_id uuid primary key references recordings (id) on delete cascade,
  status text not null check (status in ('pending', 'running', 'done', 'failed')),
  -- Failures since the last piece of audio that succeeded, and when the first of them was.
  attempts integer not null default 0,
  failing_since timestamptz(3),
  -- When to try again after a failure; null: at once.
  not_before timestamptz(3),
  -- Why the last attempt failed, in words for people.
  last_error text,
  progress integer not null default 0 check (progress between 0 and 100),
  -- How many pieces of audio there are; null until they have been cut.
  chunks_total integer,
  -- The recording's transcript_version that this wrote; a transcript of any other version is somebody else's.
  written_version integer,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index transcriptions_unfinished on transcriptions (not_before) where status in ('pending', 'running');

-- The plan of one transcription: which piece of audio is which, and what the model heard in it. The audio itself is
-- cut again after a restart; pieces with a result are not sent again.
create table transcription_chunks (
  recording_id uuid not null references transcriptions (recording_id) on delete cascade,
  position integer not null,
  -- From the start of the recording; neighbours overlap.
  start_ms integer not null,
  end_ms integer not null,
  -- What was heard (server/transcription/transcriber.ts); null: not yet.
  result jsonb,
  primary key (recording_id, position)
);
