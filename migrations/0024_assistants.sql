-- Apps that registered themselves belong to no workspace: users of every workspace may authorize them.
alter table oauth_clients alter column workspace_id drop not null;
-- The client_id of an app that describes itself in a document at this URL; null for registered apps.
alter table oauth_clients add column metadata_url text;
-- When the document has to be fetched again.
alter table oauth_clients add column metadata_expires_at timestamptz(3);
create unique index oauth_clients_metadata_url on oauth_clients (metadata_url) where metadata_url is not null;
-- Preflight requests name an origin but no app.
create index oauth_clients_origins on oauth_clients using gin (cors_origins);

-- Whether users may authorize apps that registered themselves.
alter table workspaces add column self_registered_apps boolean not null default true;

-- The resource that tokens are restricted to (RFC 8707); null: the whole server.
alter table oauth_codes add column resource text check (resource in ('mcp'));
alter table oauth_families add column resource text check (resource in ('mcp'));
alter table access_tokens add column resource text check (resource in ('mcp'));
