-- The reminder that a workspace shows before a recording in the browser; null: the app's own text.
alter table workspaces add column recording_consent text;
