-- Comments on a recording, or on a moment of it, with their replies.
create table comments (
  id uuid primary key,
  recording_id uuid not null references recordings (id) on delete cascade,
  -- The first comment of the thread; null for that comment itself.
  parent_id uuid references comments (id) on delete cascade,
  -- Null: the comment was deleted. It stays without its text while it has replies.
  user_id uuid references users (id),
  -- Markdown. A mention of a user is an @ and the user's id, so that it follows a change of the name.
  text text not null,
  timestamp_ms integer,
  created_at timestamptz(3) not null default clock_timestamp(),
  edited_at timestamptz(3),
  resolved_at timestamptz(3),
  resolved_by uuid references users (id)
);
create unique index comments_recording on comments (recording_id, created_at, id);
create index comments_parent on comments (parent_id);
create index comments_user on comments (user_id);
create index comments_resolved_by on comments (resolved_by) where resolved_by is not null;

create table comment_mentions (
  comment_id uuid not null references comments (id) on delete cascade,
  user_id uuid not null references users (id),
  primary key (comment_id, user_id)
);
create index comment_mentions_user on comment_mentions (user_id);

create table comment_reactions (
  comment_id uuid not null references comments (id) on delete cascade,
  emoji text not null,
  user_id uuid not null references users (id),
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (comment_id, emoji, user_id)
);
create index comment_reactions_user on comment_reactions (user_id);
