-- Public keys with which users sign in instead of a password.
create table passkeys (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  credential_id bytea not null unique,
  public_key bytea not null,
  -- How often the authenticator was used, as it says; 0 if it doesn't count. It never decreases, unless the key was copied.
  counter bigint not null,
  transports text[] not null,
  name text not null,
  uses integer not null default 0,
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3)
);
create index passkeys_of_user on passkeys (user_id);

-- Challenges that a browser has signed: each is accepted once. Others are only in their browser.
create table used_challenges (
  hash bytea primary key,
  used_at timestamptz(3) not null default now()
);
create index used_challenges_by_time on used_challenges (used_at);

alter table sessions drop constraint sessions_method_check,
  add constraint sessions_method_check check (method in ('password', 'single_sign_on', 'link', 'passkey'));
