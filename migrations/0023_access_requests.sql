-- Users who request access to a recording that they can't see; deleted after 30 days, and when access is granted.
create table access_requests (
  recording_id uuid not null references recordings (id) on delete cascade,
  user_id uuid not null references users (id),
  requested_at timestamptz(3) not null default clock_timestamp(),
  -- A declined request stays for the rest of the 30 days, so that it can't be repeated before.
  declined_at timestamptz(3),
  primary key (recording_id, user_id)
);
create index access_requests_user on access_requests (user_id);
create index access_requests_requested_at on access_requests (requested_at);
