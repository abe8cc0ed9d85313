-- Users and teams that an identity provider manages by SCIM 2.0.
alter table users
  -- The provider's own id of the user.
  add column external_id text,
  add column given_name text,
  add column family_name text,
  -- When SCIM deleted the user, which deactivates them; SCIM doesn't show them until they are active again.
  add column scim_deleted_at timestamptz(3);
create unique index users_by_workspace_and_id on users (workspace_id, id);
create index users_by_external_id on users (workspace_id, external_id) where external_id is not null;

alter table teams
  -- Whether SCIM created the team; it shows and changes no others.
  add column is_provisioned boolean not null default false,
  add column external_id text;
create unique index teams_by_workspace_and_id on teams (workspace_id, id);

-- Tokens that are valid for SCIM alone.
create table scim_tokens (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  name text not null,
  hash bytea not null unique,
  -- The admin who created it, with whom it ends; null: the operator.
  created_by uuid references users (id),
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3),
  revoked_at timestamptz(3),
  -- Attributes that were sent and aren't kept, each with the number of requests.
  ignored jsonb not null default '{}'
);
create unique index scim_tokens_by_workspace on scim_tokens (workspace_id, created_at, id);
create index scim_tokens_by_creator on scim_tokens (created_by) where revoked_at is null;
