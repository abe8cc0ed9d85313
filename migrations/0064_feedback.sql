-- How a summary was written: the version of the prompts, and what a user chose. Null: of normal length, in the meeting's language.
alter table intelligence_runs add column prompt_version integer not null default 1,
  add column length text check (length in ('short', 'normal', 'detailed')),
  add column language text;

-- Thumbs up and down on summaries. A user has one for each model and version of its prompts.
create table summary_feedback (
  -- It goes with the run: erasing a person deletes what the model wrote about the recording.
  recording_id uuid not null references intelligence_runs (recording_id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  model text not null,
  prompt_version integer not null,
  -- intelligence_runs.finished_at of the summary that the user read.
  written_at timestamptz not null,
  rating text not null check (rating in ('up', 'down')),
  comment text not null,
  rated_at timestamptz(3) not null default clock_timestamp(),
  primary key (recording_id, user_id, model, prompt_version)
);
create index summary_feedback_user on summary_feedback (user_id);

-- What answered a question, and the asker's thumb up or down. Null: an earlier version answered it; no thumb.
alter table ask_turns add column model text,
  add column prompt_version integer not null default 1,
  add column rating text check (rating in ('up', 'down')),
  add column comment text,
  add column rated_at timestamptz(3);
