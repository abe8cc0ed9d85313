-- Why an upload failed, for admins and the log; `failure_reason` is for the user who sent it.
alter table uploads
  add column failure_stage text,
  add column failure_detail text,
  add column failure_bytes bigint,
  add column failure_container text;
