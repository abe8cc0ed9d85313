-- The trash: deleted recordings that can be restored for a while.

alter table workspaces
  -- How many days deleted recordings stay in the trash; 0: they are deleted permanently at once.
  add column trash_days integer not null default 30 check (trash_days between 0 and 365);

create table trashed_recordings (
  workspace_id uuid not null references workspaces (id),
  recording_id uuid not null references recordings (id) on delete cascade,
  trashed_at timestamptz(3) not null default clock_timestamp(),
  trashed_by uuid references users (id) on delete set null,
  -- Principals that could see the recording when it was deleted; with the right to change it they can restore it.
  principals uuid[] not null,
  -- What restoring puts back, without names and texts: public links, and positions of highlights in stories.
  removed jsonb not null,
  primary key (workspace_id, recording_id)
);
create unique index trashed_recordings_recording on trashed_recordings (recording_id);
create index trashed_recordings_time on trashed_recordings (workspace_id, trashed_at desc, recording_id desc);

-- Nobody sees a recording in the trash: not even through a previous version of the server, which doesn't know the trash
-- and would grant access again when a team, a user or a participant changes.
create function parley_refuse_grants_in_trash() returns trigger language plpgsql as $$
begin
  if exists (select 1 from trashed_recordings t where t.recording_id = new.recording_id) then
    return null;
  end if;
  return new;
end $$;
create trigger no_grants_in_trash before insert on recording_grants
  for each row execute function parley_refuse_grants_in_trash();
