-- Links that work for whoever has them: to a recording, a highlight or a story. The address holds the id and an HMAC over
-- it under the installation's secret, so that nothing here tells it.

create table public_links (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null references workspaces (id),
  kind text not null check (kind in ('recording', 'highlight', 'story')),
  recording_id uuid references recordings (id) on delete cascade,
  highlight_id uuid references highlights (id) on delete cascade,
  story_id uuid references stories (id) on delete cascade,
  -- Null: made along with share_state, or by somebody who is gone.
  created_by uuid references users (id) on delete set null,
  created_at timestamptz(3) not null default clock_timestamp(),
  expires_at timestamptz(3),
  -- argon2id, in PHC string form.
  password_hash text,
  allow_download boolean not null default false,
  start_ms integer check (start_ms is null or (start_ms >= 0 and kind = 'recording')),
  -- To the hour.
  last_opened_at timestamptz(3),
  check (num_nonnulls(recording_id, highlight_id, story_id) = 1 and case kind
    when 'recording' then recording_id is not null
    when 'highlight' then highlight_id is not null
    else story_id is not null end)
);
create index public_links_recording on public_links (recording_id, created_at, id) where recording_id is not null;
create index public_links_highlight on public_links (highlight_id, created_at, id) where highlight_id is not null;
create index public_links_story on public_links (story_id, created_at, id) where story_id is not null;

-- Which part of which recording a link of a highlight or story may show: agreed to by somebody who may share the
-- recording. A highlight that reaches beyond it by now is left out.
create table public_link_clips (
  link_id uuid not null references public_links (id) on delete cascade,
  highlight_id uuid not null references highlights (id) on delete cascade,
  start_ms integer not null,
  end_ms integer not null,
  primary key (link_id, highlight_id)
);
create index public_link_clips_highlight on public_link_clips (highlight_id);

-- Files cut for links of highlights and stories, below recordings/<recording>/clips/<id>/ in the store.
create table clip_files (
  id uuid primary key default gen_random_uuid(),
  recording_id uuid not null references recordings (id) on delete cascade,
  -- Null: the highlight is gone, and the files are to go.
  highlight_id uuid references highlights (id) on delete set null,
  start_ms integer not null,
  end_ms integer not null,
  state text not null default 'preparing' check (state in ('preparing', 'ready', 'failed')),
  format text check (format in ('mp4', 'mp3')),
  -- Names of what lies there.
  files text[] not null default '{}',
  -- In words for people.
  error text,
  -- How often the media program was killed at it.
  kills integer not null default 0,
  created_at timestamptz(3) not null default clock_timestamp(),
  unique (highlight_id, start_ms, end_ms),
  check (state <> 'ready' or format is not null)
);
create index clip_files_recording on clip_files (recording_id);
create index clip_files_preparing on clip_files (created_at) where state = 'preparing';

-- A recording has links only while it is public, whatever changes its share_state: becoming public makes the first, and
-- leaving takes all of them back for good.
create function parley_share_state_links() returns trigger language plpgsql as $$
begin
  if new.share_state = 'public' then
    insert into public_links (workspace_id, kind, recording_id) values (new.workspace_id, 'recording', new.id);
  else
    delete from public_links where recording_id = new.id;
  end if;
  return null;
end $$;
create trigger recordings_become_public after insert on recordings
  for each row when (new.share_state = 'public') execute function parley_share_state_links();
create trigger recordings_change_share_state after update of share_state on recordings
  for each row when ((old.share_state = 'public') is distinct from (new.share_state = 'public'))
  execute function parley_share_state_links();

insert into public_links (workspace_id, kind, recording_id)
select workspace_id, 'recording', id from recordings where share_state = 'public';

-- A story is public exactly when it has a link. Those that were get one, which shows what their makers may share.
insert into public_links (workspace_id, kind, story_id, created_by)
select workspace_id, 'story', id, created_by from stories where is_public;
insert into public_link_clips (link_id, highlight_id, start_ms, end_ms)
select l.id, h.id, h.start_ms, least(h.start_ms::bigint + h.duration_ms, 2147483647)::integer
from public_links l
join story_highlights sh on sh.story_id = l.story_id
join highlights h on h.id = sh.highlight_id
join users u on u.id = l.created_by and u.deactivated_at is null
where exists (select 1 from recording_grants g where g.recording_id = h.recording_id
    and g.principal_id = any(parley_principals(u.id, (select w.members_id from workspaces w where w.id = l.workspace_id))))
  and (u.role = 'admin' or exists (
    select 1 from recording_recorders r where r.recording_id = h.recording_id and r.user_id = u.id));
alter table stories drop column is_public, drop column public_version;
