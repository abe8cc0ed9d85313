-- OAuth 2.0: apps that people let in. Of codes, tokens and client secrets only the SHA-256 is kept.

create table oauth_clients (
  -- The client_id.
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  name text not null,
  -- Runs where it can keep no secret: in a browser, on a phone, on a desktop.
  is_public boolean not null,
  -- Gets access tokens that don't expire, and no refresh tokens.
  is_legacy boolean not null,
  secret_hash bytea,
  -- The secret before, good until then, so that a running app can change over.
  previous_secret_hash bytea,
  previous_secret_until timestamptz(3),
  redirect_uris text[] not null,
  -- Origins of pages that may call the token endpoint from a browser.
  cors_origins text[] not null default '{}',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  check (is_public = (secret_hash is null))
);
create index oauth_clients_workspace on oauth_clients (workspace_id, created_at desc, id desc);

-- A person has let an app in. Deleting the row ends all that came of it at once.
create table oauth_grants (
  id uuid primary key,
  client_id uuid not null references oauth_clients (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  created_at timestamptz(3) not null default now(),
  -- When the person last said yes, or the app last got a token.
  last_used_at timestamptz(3) not null default now(),
  unique (client_id, user_id)
);
create index oauth_grants_user on oauth_grants (user_id, created_at desc, id desc);

-- All tokens that came of one code: what ends together when one of them turns up where it should not.
create table oauth_families (
  id uuid primary key,
  grant_id uuid not null references oauth_grants (id) on delete cascade,
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3) not null default now()
);
create index oauth_families_grant on oauth_families (grant_id);
create index oauth_families_use on oauth_families (last_used_at);

create table oauth_codes (
  hash bytea primary key,
  grant_id uuid not null references oauth_grants (id) on delete cascade,
  redirect_uri text not null,
  -- S256 (RFC 7636); null for a confidential client that sent none.
  code_challenge text,
  expires_at timestamptz(3) not null,
  -- Set by the exchange. Null again once those tokens are revoked, but used_at stays.
  used_at timestamptz(3),
  family_id uuid references oauth_families (id) on delete set null
);
create index oauth_codes_grant on oauth_codes (grant_id);
create index oauth_codes_family on oauth_codes (family_id);
create index oauth_codes_expiry on oauth_codes (expires_at);

create table oauth_refresh_tokens (
  id uuid primary key,
  family_id uuid not null references oauth_families (id) on delete cascade,
  hash bytea not null unique,
  -- The token it came in place of; null for the first of its family.
  parent_id uuid references oauth_refresh_tokens (id) on delete set null,
  created_at timestamptz(3) not null default now(),
  -- When it was first used; since then there is a newer one.
  rotated_at timestamptz(3),
  -- A successor was used, so its answer had arrived: from now on this one is good for nothing but to be caught.
  spent_at timestamptz(3)
);
create index oauth_refresh_tokens_family on oauth_refresh_tokens (family_id);
create index oauth_refresh_tokens_parent on oauth_refresh_tokens (parent_id);
create index oauth_refresh_tokens_rotation on oauth_refresh_tokens (rotated_at);

alter table access_tokens drop constraint access_tokens_type_check;
alter table access_tokens add constraint access_tokens_type_check
  check (type in ('personal_access_token', 'workspace_access_token', 'oauth'));
alter table access_tokens
  add column oauth_family_id uuid references oauth_families (id) on delete cascade,
  -- The refresh token that was handed out along with it.
  add column oauth_refresh_id uuid references oauth_refresh_tokens (id) on delete cascade,
  add constraint access_tokens_oauth_check check ((type = 'oauth') = (oauth_family_id is not null));
create index access_tokens_family on access_tokens (oauth_family_id) where oauth_family_id is not null;
create index access_tokens_refresh on access_tokens (oauth_refresh_id) where oauth_refresh_id is not null;
create index access_tokens_oauth_expiry on access_tokens (expires_at) where type = 'oauth';
