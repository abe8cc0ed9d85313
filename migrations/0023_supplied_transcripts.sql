-- A transcript that somebody put in the place of another is part of the history.
alter table transcript_edits drop constraint transcript_edits_kind_check;
alter table transcript_edits add constraint transcript_edits_kind_check check (
  kind in ('text', 'rename', 'merge', 'assign', 'undo', 'redo', 'transcribed', 'reapplied', 'supplied'));
