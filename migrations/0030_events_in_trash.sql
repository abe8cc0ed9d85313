-- Nothing that happens to a recording in the trash is an event, not even to a previous version of the server, which doesn't
-- know the trash and would send the recording's data to hooks after its deletion.
create function parley_refuse_events_in_trash() returns trigger language plpgsql as $$
begin
  if exists (select 1 from trashed_recordings t where t.recording_id = new.recording_id) then
    return null;
  end if;
  return new;
end $$;
create trigger no_events_in_trash before insert on events
  for each row when (new.recording_id is not null and new.type not in ('recording_deleted', 'highlight_deleted'))
  execute function parley_refuse_events_in_trash();
