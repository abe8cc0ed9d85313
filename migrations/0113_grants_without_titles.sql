-- finish: needs 1.2.0
-- What only version 1.1.0 and older read in grants (0110_lighter_grants.sql).

-- Lists read grants, then recordings, and changes the other way round. Both waits together stay below deadlock_timeout, so
-- that this steps back, and is tried again, before a request fails.
set local lock_timeout = '700ms';
lock table recordings in access exclusive mode;
set local lock_timeout = '200ms';
drop trigger copy_to_grants on recordings;
drop function parley_copy_to_grants();
drop trigger fill_grant on recording_grants;
drop function parley_fill_grant();
alter table recording_grants drop column title_key, drop column meeting_type_id, drop column external;
