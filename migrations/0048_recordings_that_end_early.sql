-- Of recordings whose file was cut off: {"expected_ms": how long it should be, or null}. Null: the file is complete.
alter table recording_media add column ends_early json;
