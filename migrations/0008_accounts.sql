-- Sign-in, OAuth 2.0, one-time links, and the log of who did what.

alter table users drop constraint users_role_check;
alter table users add constraint users_role_check check (role in ('admin', 'member', 'viewer'));

-- A person signed in with a browser. The cookie holds 256 random bits, of which only the SHA-256 is kept.
create table sessions (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  hash bytea not null unique,
  -- How the person showed who they are: a password, single sign-on, or a one-time link.
  method text not null check (method in ('password', 'single_sign_on', 'link')),
  ip text not null,
  user_agent text not null,
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null
);
create index sessions_user on sessions (user_id);
create index sessions_expiry on sessions (expires_at);

-- Failed sign-ins counted per account and per address, so that guessing is slow whoever guesses.
create table sign_in_failures (
  -- SHA-256 of what is counted: an email, known or not, or an address.
  key bytea primary key,
  count integer not null,
  last_at timestamptz(3) not null
);

-- Who did what, from where. Rows are added and never changed; names are as they were, and stay when the person goes.
create table audit_log (
  id bigint generated always as identity primary key,
  workspace_id uuid not null references workspaces (id),
  occurred_at timestamptz(3) not null default clock_timestamp(),
  action text not null,
  -- Null: nobody was signed in, or the server itself did it.
  user_id uuid,
  user_email text,
  credential text,
  credential_id uuid,
  subject_type text,
  subject_id text,
  ip text,
  user_agent text,
  details jsonb not null default '{}'
);
create index audit_log_workspace on audit_log (workspace_id, id);
