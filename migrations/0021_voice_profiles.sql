-- Voice profiles: how people sound who agreed to be recognized.

alter table workspaces
  -- Whether voices can be remembered and are recognized.
  add column voice_profiles boolean not null default false;

create table voice_profiles (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  name text not null,
  email text,
  embedding real[] not null,
  -- Name and revision of the model: embeddings of different models can't be compared.
  model text not null,
  -- The user who confirmed that the person consents, and when.
  consented_by uuid references users (id) on delete set null,
  consented_at timestamptz(3) not null default clock_timestamp()
);
create unique index voice_profiles_workspace on voice_profiles (workspace_id, id);

-- Voices of a recording's unnamed speakers, while the workspace has voice profiles turned on; deleted after 30 days.
create table recording_voices (
  recording_id uuid not null references recordings (id) on delete cascade,
  speaker text not null,
  embedding real[] not null,
  ms integer not null,
  model text not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (recording_id, speaker)
);
create index recording_voices_created_at on recording_voices (created_at);
