-- Deliveries: where summaries of recordings are sent. Each has a row of hooks of the type "delivery", which no event has, so
-- that versions before this one send it nothing; it gives owner, access, lease, retries and log.
create table destinations (
  hook_id uuid primary key references hooks (id) on delete cascade,
  workspace_id uuid not null references workspaces (id),
  kind text not null check (kind in ('slack', 'teams', 'mattermost', 'discord', 'email', 'markdown')),
  name text not null,
  -- The incoming webhook's URL, encrypted with a key derived from PARLEY_SECRET; null: the kind has none.
  url bytea,
  -- Of Markdown: the folder in the target, and whether names are links.
  folder text,
  link_people boolean not null default false,
  -- Which recordings are sent; a condition that is left out is met by all.
  conditions jsonb not null default '{}',
  -- Markdown with placeholders; null: the default.
  template text,
  updated_at timestamptz(3) not null default now()
);
create index destinations_workspace on destinations (workspace_id);

-- Recordings that were passed on to a chat or by email, which happens once, whatever changes later.
create table delivered_recordings (
  -- No foreign key: a fan-out, which has locked the event, would wait for a deletion that waits for the event.
  recording_id uuid not null,
  hook_id uuid not null references destinations (hook_id) on delete cascade,
  -- The attempt whose request may be in flight, as delivery and number. One that ended without a result is not repeated.
  delivery_id bigint,
  attempt integer,
  primary key (recording_id, hook_id)
);
create index delivered_recordings_hook on delivered_recordings (hook_id);
