-- Grants say who sees a recording and when it started; what lists filter by is read from the recording (decision 91). Until
-- `parley migrate --finish`, processes of the version before still read and write the title, the meeting type and the scope
-- in them.

-- First, as every change locks them in this order: the other way round, requests would end in deadlocks.
lock table recordings in share row exclusive mode;
alter table recording_grants alter column title_key set default '', alter column external set default false;

create function parley_fill_grant() returns trigger language plpgsql as $$
declare
  recording record;
begin
  select r.title_key, r.meeting_type_id, r.external into recording from recordings r where r.id = new.recording_id;
  -- A restored database may get its grants first.
  if found then
    new.title_key := recording.title_key;
    new.meeting_type_id := recording.meeting_type_id;
    new.external := recording.external;
  end if;
  return new;
end $$;
create trigger fill_grant before insert on recording_grants for each row execute function parley_fill_grant();

create function parley_copy_to_grants() returns trigger language plpgsql as $$
begin
  update recording_grants g
  set title_key = new.title_key, meeting_type_id = new.meeting_type_id, external = new.external
  where g.recording_id = new.id and (g.title_key, g.meeting_type_id, g.external)
    is distinct from (new.title_key, new.meeting_type_id, new.external);
  return null;
end $$;
create trigger copy_to_grants after update on recordings for each row
  when ((old.title, old.meeting_type_id, old.external) is distinct from (new.title, new.meeting_type_id, new.external))
  execute function parley_copy_to_grants();
