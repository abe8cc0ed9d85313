-- Reads of a replica.

-- The position of the write-ahead log after a user's last change, so that the user doesn't read an older state from a replica.
-- Not logged: lost in a crash and in a failover, when it is not needed any more. At most a row for each user.
create unlogged table recent_changes (
  workspace_id uuid not null,
  user_id uuid not null references users (id) on delete cascade,
  position pg_lsn not null,
  changed_at timestamptz(3) not null default now(),
  primary key (workspace_id, user_id)
);
create index recent_changes_user on recent_changes (user_id);
