-- A second factor beside the password: a secret from which an authenticator app computes a code every 30 seconds.
create table second_factors (
  user_id uuid primary key references users (id) on delete cascade,
  -- Encrypted with PARLEY_SECRET.
  encrypted_secret bytea not null,
  created_at timestamptz(3) not null default now(),
  -- Null: not confirmed with a code yet, so signing in doesn't ask for one.
  confirmed_at timestamptz(3),
  -- The time step of the last accepted code: each code is accepted once.
  last_step bigint not null default 0
);

-- Codes for users who have lost their authenticator app; each is accepted once.
create table recovery_codes (
  user_id uuid not null references users (id) on delete cascade,
  hash bytea not null,
  created_at timestamptz(3) not null default now(),
  primary key (user_id, hash)
);

-- How the session proved its user beside `method`, when it was created; null: not at all.
alter table sessions add column second_factor text check (second_factor in ('totp', 'recovery_code'));
