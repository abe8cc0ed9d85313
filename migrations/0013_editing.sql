-- What a recording says of itself can be changed, transcripts can be edited, and recordings made elsewhere come in.

alter table recordings
  -- Chosen by a person: then the participants do not decide about it any more.
  add column meeting_type_by_hand boolean not null default false;

alter table uploads
  -- What an import says beyond the attributes of an upload (server/uploads/import-data.ts); null: no import.
  add column import_data jsonb,
  -- Names an import on the side it comes from, so that sending it twice makes one recording.
  add column external_id text;
-- One that failed may be tried again. What people import by themselves does not get in the way of others.
create unique index uploads_external_id on uploads
  (workspace_id, scope, (case when scope = 'personal' then created_by end), external_id) nulls not distinct
  where external_id is not null and status <> 'failure';

alter table transcript_segments
  -- What of the segment was as it came, before it was first edited: any of text, speaker, participant_id.
  add column original jsonb;
create index transcript_segments_edited on transcript_segments (recording_id) where original is not null;

alter table transcriptions
  -- A transcript that is there is to be made anew, and what becomes of the edits in it; null: none is to be replaced.
  add column edits text check (edits in ('keep', 'discard'));

-- What was done to transcripts. One row for each edit, whatever the number of segments.
create table transcript_edits (
  recording_id uuid not null references recordings (id) on delete cascade,
  -- Counts up within the recording.
  number integer not null,
  kind text not null check (kind in ('text', 'rename', 'merge', 'assign', 'undo', 'redo', 'transcribed', 'reapplied')),
  -- Who; null for a workspace token, for what happened by itself, and for people who are gone.
  user_id uuid references users (id) on delete set null,
  made_at timestamptz(3) not null default clock_timestamp(),
  -- The recording's transcript_version that this made.
  transcript_version integer not null,
  segments integer not null,
  -- What was asked for, for people (contract/transcript-history.ts).
  details jsonb not null,
  -- What to write to take it back (server/transcripts/changes.ts).
  changes jsonb not null,
  -- For undo and redo: the entry that was taken back.
  undoes integer,
  -- The entry that took this one back; null while it holds.
  undone_by integer,
  primary key (recording_id, number)
);
create index transcript_edits_user on transcript_edits (user_id);
