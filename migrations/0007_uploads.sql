-- What the jobs and the senders of uploads say of themselves, and which database the files in the store belong to.

alter table uploads
  -- Last sign of a sender that sends the file whole; one that sends in pieces has active_at.
  add column put_active_at timestamptz(3),
  -- The etag of the file that was received, which tells it from one that came too late.
  add column file_etag text,
  -- The first attempt of the job that is to end the present status, and how many there were; null: none yet.
  add column work_started_at timestamptz(3),
  add column work_attempts integer not null default 0,
  -- How many of them ended because the media program was killed from outside.
  add column work_kills integer not null default 0,
  -- What kind of error the last failed attempt ended in, for the log.
  add column work_error text;
create index uploads_work on uploads (work_started_at)
  where status in ('processing', 'promoting') and work_started_at is not null;

-- Nothing reads these: the store is asked, which knows what really lies there.
alter table recording_media
  drop column size_bytes,
  drop column etag,
  drop column width,
  drop column height;

-- The one name of this database. The store carries it as a mark (server/uploads/store-mark.ts), so that no database
-- clears away the files of another.
create table installation (
  is_only boolean primary key default true check (is_only),
  id uuid not null default gen_random_uuid(),
  -- The last event when files were last swept. A mark that is ahead of it was made by a later state of this database.
  high bigint not null default 0
);
insert into installation default values;
