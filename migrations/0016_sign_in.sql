-- One-time links, identities at a provider of single sign-on, and how attempts to sign in are slowed down.

alter table users
  -- Set while an invitation waits to be accepted: whoever has it may not be counted on yet.
  add column invited_at timestamptz(3),
  add column last_signed_in_at timestamptz(3);

-- A link that lets a person set a password, once. The link holds 256 random bits, of which only the SHA-256 is kept.
create table one_time_links (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  purpose text not null check (purpose in ('invitation', 'password_reset')),
  hash bytea not null unique,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  -- A newer link takes the place of an older one.
  unique (user_id, purpose)
);
create index one_time_links_expiry on one_time_links (expires_at);

-- Who a person is at a provider of single sign-on. Bound at the first sign-in: emails change hands there, subjects don't.
create table identities (
  issuer text not null,
  subject text not null,
  user_id uuid not null references users (id) on delete cascade,
  created_at timestamptz(3) not null default now(),
  primary key (issuer, subject),
  unique (user_id, issuer)
);

-- Counts leak with time, so they are no whole numbers.
alter table sign_in_failures alter column count type double precision;
create index sign_in_failures_old on sign_in_failures (last_at);

-- Addresses a person has signed in from: whoever guesses that person's password elsewhere does not keep them out there.
create table known_addresses (
  -- SHA-256 of the email and the address.
  key bytea primary key,
  last_at timestamptz(3) not null default now()
);
create index known_addresses_old on known_addresses (last_at);

create index sessions_last_use on sessions (last_used_at);
create index access_tokens_workspace on access_tokens (workspace_id, created_at, id);
