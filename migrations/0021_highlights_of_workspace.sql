-- The highlights of a whole workspace are listed newest first: each knows its workspace, so that a page reads the index
-- from where the page begins, and nothing of other workspaces.

alter table highlights add column workspace_id uuid;
-- What a search finds of a highlight stays the same.
alter table highlights disable trigger search_updated;
update highlights h set workspace_id = r.workspace_id from recordings r where r.id = h.recording_id;
alter table highlights enable trigger search_updated;
alter table highlights alter column workspace_id set not null;
create index highlights_workspace on highlights (workspace_id, created_at desc, id desc);
