-- Calendars of users and rooms. Their events give recordings a title, participants and scheduled times.
create table calendars (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  -- null: a room calendar.
  user_id uuid references users (id) on delete cascade,
  kind text not null check (kind in ('ics', 'caldav')),
  name text not null,
  host text not null,
  -- URL, username and password, encrypted with a key derived from PARLEY_SECRET.
  secrets bytea not null,
  -- For times without a time zone.
  time_zone text not null,
  -- A user chose it, so that the calendar's own doesn't matter.
  is_zone_chosen boolean not null default false,
  next_read_at timestamptz(3) not null,
  read_at timestamptz(3),
  -- When every event was last read, whether the calendar had changed or not: the days that are read move on.
  whole_read_at timestamptz(3),
  -- What the server called the content that was read last, and the hash of it.
  etag text,
  content_hash bytea,
  failures integer not null default 0,
  failing_since timestamptz(3),
  problem text,
  -- The server asked for fewer requests.
  is_waiting boolean not null default false,
  unread_events integer not null default 0,
  -- The first of them, as {title, reason}.
  unread_examples jsonb not null default '[]',
  created_at timestamptz(3) not null default now()
);
create unique index calendars_workspace on calendars (workspace_id, id);
create index calendars_user on calendars (user_id);
create index calendars_due on calendars (next_read_at);

-- Events from some months ago to some days ahead, with a row for each instance of a series.
create table calendar_events (
  id uuid not null unique,
  calendar_id uuid not null references calendars (id) on delete cascade,
  -- A hash of UID and instance, which is the same in every calendar that has the event.
  key text not null,
  start_at timestamptz(3) not null,
  end_at timestamptz(3) not null,
  is_all_day boolean not null,
  -- Of private events only the times are stored.
  is_private boolean not null,
  ical_uid text,
  title text,
  -- As {name, email}.
  organizer jsonb,
  -- As {name, email, declined}.
  attendees jsonb not null default '[]',
  primary key (calendar_id, key)
);
create index calendar_events_time on calendar_events (calendar_id, start_at);

-- Notes for meetings, which become private notes of their recording.
create table meeting_notes (
  calendar_id uuid not null references calendars (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  event_key text not null,
  text text not null,
  primary key (calendar_id, user_id, event_key)
);
create index meeting_notes_user on meeting_notes (user_id);

-- Which meeting a recording was matched with, and what it got from there, so that it can be undone.
create table recording_meetings (
  recording_id uuid primary key references recordings (id) on delete cascade,
  state text not null check (state in ('matched', 'ambiguous', 'undone')),
  is_chosen boolean not null default false,
  event_key text,
  -- Of the title that was set; null: none was.
  title_hash bytea,
  participant_ids uuid[] not null default '{}',
  -- The calendar_event that was replaced.
  previous_event jsonb,
  -- Who got notes of the meeting as private notes.
  note_user_ids uuid[] not null default '{}',
  matched_at timestamptz(3) not null default now()
);
create index recording_meetings_event on recording_meetings (event_key) where state = 'matched';

-- Invited by the calendar event that a recording was matched with automatically, and not confirmed by a user: no ground for
-- seeing the recording.
alter table participants add column is_invited boolean not null default false;
