-- A setting of the workspace, and a column that nothing reads any more.

alter table workspaces
  -- Who sees a new recording besides those it belongs to; null: as PARLEY_NEW_RECORDING_SHARE_STATE has it.
  add column new_recording_share_state text check (new_recording_share_state in ('restricted', 'workspace'));

alter table access_tokens drop column oauth_refresh_id;
