-- How many emails of each kind each recipient and each workspace was sent on a day (UTC).
create table mail_counts (
  -- A hash of what is counted, so that the table names no one.
  key bytea primary key,
  day date not null,
  count integer not null
);
