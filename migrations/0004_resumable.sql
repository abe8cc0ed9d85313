-- Who is writing to an upload that is sent in pieces: one process at a time, and only as long as it keeps saying so.
-- Worth nothing after a crash of the database, whose connections end with it, so it is not logged.
create unlogged table resumable_leases (
  upload_id uuid primary key references uploads (id) on delete cascade,
  holder uuid not null,
  expires_at timestamptz(3) not null,
  -- Somebody waits for it: the holder is to stop.
  wanted boolean not null default false
);
