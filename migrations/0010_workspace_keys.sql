-- outside a transaction
-- A unique index that leads with the workspace, on every table that has one, or with the row that it belongs to:
-- docs/operations/tables.md says why. Where an index with the same columns was there, it is replaced. A build that was interrupted
-- leaves an invalid index, so each starts with a drop.
drop index concurrently if exists access_tokens_by_workspace;
-- next
create unique index concurrently access_tokens_by_workspace on access_tokens (workspace_id, created_at, id);
-- next
drop index concurrently if exists access_tokens_workspace;
-- next
drop index concurrently if exists audit_log_by_workspace;
-- next
create unique index concurrently audit_log_by_workspace on audit_log (workspace_id, occurred_at, id);
-- next
drop index concurrently if exists audit_log_time;
-- next
drop index concurrently if exists erasures_by_workspace;
-- next
create unique index concurrently erasures_by_workspace on erasures (workspace_id, created_at, id);
-- next
drop index concurrently if exists erasures_workspace;
-- next
drop index concurrently if exists events_by_workspace;
-- next
create unique index concurrently events_by_workspace on events (workspace_id, id);
-- next
drop index concurrently if exists events_workspace;
-- next
drop index concurrently if exists highlights_by_workspace;
-- next
create unique index concurrently highlights_by_workspace on highlights (workspace_id, created_at desc, id desc);
-- next
drop index concurrently if exists highlights_workspace;
-- next
drop index concurrently if exists hooks_by_workspace;
-- next
create unique index concurrently hooks_by_workspace on hooks (workspace_id, hook_type, inserted_at, id);
-- next
drop index concurrently if exists hooks_workspace;
-- next
drop index concurrently if exists legal_holds_by_workspace;
-- next
create unique index concurrently legal_holds_by_workspace on legal_holds (workspace_id, placed_at, recording_id);
-- next
drop index concurrently if exists legal_holds_workspace;
-- next
drop index concurrently if exists oauth_clients_by_workspace;
-- next
create unique index concurrently oauth_clients_by_workspace on oauth_clients (workspace_id, created_at desc, id desc);
-- next
drop index concurrently if exists oauth_clients_workspace;
-- next
drop index concurrently if exists retention_receipts_by_workspace;
-- next
create unique index concurrently retention_receipts_by_workspace on retention_receipts (workspace_id, deleted_at, id);
-- next
drop index concurrently if exists retention_receipts_workspace;
-- next
drop index concurrently if exists retention_rules_by_workspace;
-- next
create unique index concurrently retention_rules_by_workspace on retention_rules (workspace_id, created_at, id);
-- next
drop index concurrently if exists retention_rules_workspace;
-- next
drop index concurrently if exists stories_by_workspace;
-- next
create unique index concurrently stories_by_workspace on stories (workspace_id, created_at, id);
-- next
drop index concurrently if exists stories_workspace;
-- next
drop index concurrently if exists uploads_by_workspace;
-- next
create unique index concurrently uploads_by_workspace on uploads (workspace_id, created_at, id);
-- next
drop index concurrently if exists uploads_workspace;
-- next
drop index concurrently if exists users_by_workspace;
-- next
create unique index concurrently users_by_workspace on users (workspace_id, name, id);
-- next
drop index concurrently if exists users_workspace;
-- next
drop index concurrently if exists participants_by_workspace;
-- next
create unique index concurrently participants_by_workspace on participants (workspace_id, id);
-- next
drop index concurrently if exists public_links_by_workspace;
-- next
create unique index concurrently public_links_by_workspace on public_links (workspace_id, id);
-- next
drop index concurrently if exists recordings_by_workspace;
-- next
create unique index concurrently recordings_by_workspace on recordings (workspace_id, id);
-- next
drop index concurrently if exists clips_by_recording;
-- next
create unique index concurrently clips_by_recording on clips (recording_id, id);
-- next
drop index concurrently if exists clips_recording;
-- next
drop index concurrently if exists oauth_codes_by_grant;
-- next
create unique index concurrently oauth_codes_by_grant on oauth_codes (grant_id, hash);
-- next
drop index concurrently if exists oauth_codes_grant;
-- next
drop index concurrently if exists oauth_families_by_grant;
-- next
create unique index concurrently oauth_families_by_grant on oauth_families (grant_id, id);
-- next
drop index concurrently if exists oauth_families_grant;
-- next
drop index concurrently if exists oauth_refresh_tokens_by_family;
-- next
create unique index concurrently oauth_refresh_tokens_by_family on oauth_refresh_tokens (family_id, id);
-- next
drop index concurrently if exists oauth_refresh_tokens_family;
-- next
drop index concurrently if exists sessions_by_user;
-- next
create unique index concurrently sessions_by_user on sessions (user_id, id);
-- next
drop index concurrently if exists sessions_user;
