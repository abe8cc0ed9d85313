-- Contents of watched files that became recordings. Kept when the file changes and when the recording is deleted, so that
-- a deleted recording is not imported again.
create table watched_contents (
  workspace_id uuid not null references workspaces (id),
  -- SHA-256 of the owner's id and the content.
  content_hash bytea not null,
  primary key (workspace_id, content_hash)
);
insert into watched_contents (workspace_id, content_hash)
select distinct w.workspace_id, w.content_hash from watched_files w
left join uploads u on u.id = w.upload_id
where w.content_hash is not null and (w.state = 'done' or u.status = 'success');

-- Names of the files whose content the upload has; null: only the recording itself, or nothing is pending.
alter table watched_files add column stored text[];

create index watched_files_pending on watched_files (workspace_id) where state = 'pending';
