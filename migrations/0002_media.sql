-- Media files: what is known of an upload's file, and of the file of a recording.

alter table workspaces
  -- What the workspace's plan allows; null: the server's setting.
  add column max_duration_sec integer check (max_duration_sec > 0);

alter table uploads
  -- The format that an upload of the older operation says it has; null for all others. Such an upload takes more
  -- formats and reports by upload_status.
  add column one_step text check (one_step in ('mov', 'mp4', 'mp3', 'm4a')),
  add column url_expires_at timestamptz(3),
  add column max_duration_sec integer,
  add column max_upload_bytes bigint,
  -- When to look next whether the file has arrived.
  add column next_check_at timestamptz(3),
  -- Bytes that a resuming sender has announced.
  add column resumable_length bigint,
  -- Last sign of a sender that goes on where it was cut off.
  add column active_at timestamptz(3),
  -- When the file was here as a whole.
  add column received_at timestamptz(3),
  add column media_expires_at timestamptz(3),
  -- What was measured in the file (server/media/facts.ts).
  add column facts jsonb,
  -- The recording this becomes: its objects are stored before its row exists.
  add column planned_recording_id uuid,
  add constraint uploads_media check (media_type = 'transcript' or (
    url_expires_at is not null and max_duration_sec is not null and max_upload_bytes is not null
    and planned_recording_id is not null));
create index uploads_awaiting on uploads (next_check_at) where status = 'awaiting';
create index uploads_staged on uploads (media_expires_at) where status = 'staged' and media_expires_at is not null;
create index uploads_processing on uploads (updated_at) where status = 'processing';
create unique index uploads_planned on uploads (planned_recording_id) where planned_recording_id is not null;

alter table recordings
  add column has_thumbnail boolean not null default false;

create table recording_media (
  recording_id uuid primary key references recordings (id) on delete cascade,
  -- mp4 or mp3: the object is recordings/<id>/media.<format>.
  format text not null check (format in ('mp4', 'mp3')),
  size_bytes bigint not null,
  etag text not null,
  width integer,
  height integer,
  has_storyboard boolean not null,
  created_at timestamptz(3) not null default now()
);
