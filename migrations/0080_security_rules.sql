-- What a workspace demands of sign-ins, sessions and tokens; null: nothing. Read with each session and token.
alter table workspaces add column security_rules jsonb;

-- The IP address of the last use, accurate to the minute; null: not used since this column exists.
alter table sessions add column last_ip text;
alter table access_tokens add column last_ip text;

-- The passkey that a session was started with, which ends with it.
alter table sessions add column passkey_id uuid;
create index sessions_of_passkey on sessions (passkey_id) where passkey_id is not null;

-- Browsers that a user has signed in with, by the hash of a cookie. Others are reported by email.
create table known_devices (
  user_id uuid not null references users (id) on delete cascade,
  hash bytea not null,
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3) not null default now(),
  primary key (user_id, hash)
);
create index known_devices_by_use on known_devices (last_used_at);
