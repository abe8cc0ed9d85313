-- The schema. Each section is one feature: its tables, then their indexes, functions and triggers.
-- Every row belongs to one workspace, and nothing refers across workspaces. Times have millisecond precision, because the
-- API shows milliseconds. SHA-256 is all that is stored of tokens, codes and link secrets.

-- ------------------------------------------------------------------------------------------------------------------
-- Text and time
-- ------------------------------------------------------------------------------------------------------------------

create extension if not exists pg_trgm;
create extension if not exists btree_gin;
create extension if not exists unaccent;

-- Folds case, accents and compatibility forms, for comparing names and titles.
create function parley_fold(value text) returns text
  language sql immutable strict parallel safe
  return lower(unaccent('unaccent'::regdictionary, normalize(value, NFKC)));

-- Turns what a user typed into a LIKE pattern for "contains".
create function parley_contains(value text) returns text
  language sql immutable strict parallel safe
  return '%' || replace(replace(replace(parley_fold(value), '\', '\\'), '%', '\%'), '_', '\_') || '%';

-- Formats a timestamp as the API does. Stable because to_char is; declared immutable, the planner would not inline it.
create function parley_timestamp(value timestamptz) returns text
  language sql stable strict parallel safe
  return to_char(value at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- ------------------------------------------------------------------------------------------------------------------
-- Workspaces, users and teams
-- ------------------------------------------------------------------------------------------------------------------

create table workspaces (
  id uuid primary key,
  name text not null,
  email_domains text[] not null default '{}',
  -- The principal in recording_grants that stands for all members.
  members_id uuid not null unique,
  created_at timestamptz(3) not null default now(),
  -- The plan's limit for recordings; null: the server's setting.
  max_duration_sec integer check (max_duration_sec > 0),
  -- Default sharing of new recordings; null: PARLEY_NEW_RECORDING_SHARE_STATE.
  new_recording_share_state text check (new_recording_share_state in ('restricted', 'workspace')),
  -- When webhooks report a new recording. when_ready: once transcription and the language model have finished, failed or
  -- taken an hour.
  recording_added text not null default 'when_ready'
    check (recording_added in ('when_ready', 'immediately'))
);

create table users (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  name text not null,
  email text not null,
  email_key text not null generated always as (lower(email)) stored unique,
  role text not null check (role in ('admin', 'member', 'viewer')),
  password_hash text,
  deactivated_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  -- Set until the invitation is accepted. Until then nobody has proven to be this user.
  invited_at timestamptz(3),
  last_signed_in_at timestamptz(3),
  -- When a link mailed to the email was used, or single sign-on reported the email as verified; null: never.
  email_proven_at timestamptz(3)
);
create index users_workspace on users (workspace_id, name, id);

create table teams (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  name text not null,
  name_key text not null generated always as (parley_fold(name)) stored,
  created_at timestamptz(3) not null default now(),
  unique (workspace_id, name_key)
);

create table team_members (
  team_id uuid not null references teams (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  primary key (team_id, user_id)
);
create index team_members_user on team_members (user_id);

-- The principals in recording_grants through which a user sees recordings: the user, all members, the user's teams.
create function parley_principals(user_id uuid, members_id uuid) returns uuid[]
  language sql stable parallel safe
  return array[$1, $2] || array(select team_id from team_members t where t.user_id = $1);

-- Email domains that workspaces claim. A claim without claimed_at waits for its DNS record and has no effect.
create table email_domain_claims (
  workspace_id uuid not null references workspaces (id) on delete cascade,
  -- In lower case, international names in their ASCII form.
  domain text not null,
  -- What the TXT record must contain. Published in DNS, so it is no secret.
  token text not null,
  -- 'workspace_create': named when the operator created the workspace, and owned unless the operator named it for several
  -- workspaces; 'operator': by the claim command.
  claimed_by text check (claimed_by in ('workspace_create', 'operator', 'dns')),
  claimed_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  primary key (workspace_id, domain),
  check (claimed_at is null or claimed_by is not null)
);
create unique index email_domain_claims_owner on email_domain_claims (domain) where claimed_at is not null;

-- ------------------------------------------------------------------------------------------------------------------
-- Sign-in
-- ------------------------------------------------------------------------------------------------------------------

-- One row for each browser that is signed in. The cookie holds 256 random bits.
create table sessions (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  hash bytea not null unique,
  method text not null check (method in ('password', 'single_sign_on', 'link')),
  ip text not null,
  user_agent text not null,
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null
);
create index sessions_user on sessions (user_id);
create index sessions_expiry on sessions (expires_at);
create index sessions_last_use on sessions (last_used_at);

-- Identities at providers of single sign-on, bound at the first sign-in. The subject identifies the user, because emails
-- change hands at a provider and subjects don't.
create table identities (
  issuer text not null,
  subject text not null,
  user_id uuid not null references users (id) on delete cascade,
  created_at timestamptz(3) not null default now(),
  primary key (issuer, subject),
  unique (user_id, issuer)
);

-- Links that let a user set a password, once. The link holds 256 random bits.
create table one_time_links (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  purpose text not null check (purpose in ('invitation', 'password_reset')),
  hash bytea not null unique,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  -- The token in the mailed copy of the link. It differs from the token in the admin's copy, so that using it proves that
  -- the mail arrived. Null: not mailed.
  mailed_hash bytea unique,
  -- The admin who created the link; null: the command line, or the user asked for a mail.
  created_by uuid,
  -- The personal or workspace token it was created with.
  created_by_token_id uuid,
  -- A newer link replaces an older one.
  unique (user_id, purpose)
);
create index one_time_links_expiry on one_time_links (expires_at);
create index one_time_links_creator on one_time_links (created_by) where created_by is not null;
create index one_time_links_token on one_time_links (created_by_token_id) where created_by_token_id is not null;

-- Failed sign-ins, counted per email and per IP address, to slow down guessing from one place and from many.
create table sign_in_failures (
  -- SHA-256 of the email (known or not) or the IP address.
  key bytea primary key,
  -- Decays with time, so it is not a whole number.
  count double precision not null,
  last_at timestamptz(3) not null
);
create index sign_in_failures_old on sign_in_failures (last_at);

-- IP addresses a user has signed in from: guesses from elsewhere do not lock the user out there.
create table known_ip_addresses (
  -- SHA-256 of the email and the IP address.
  key bytea primary key,
  last_at timestamptz(3) not null default now()
);
create index known_ip_addresses_old on known_ip_addresses (last_at);

-- ------------------------------------------------------------------------------------------------------------------
-- OAuth 2.0 apps
-- ------------------------------------------------------------------------------------------------------------------

create table oauth_clients (
  -- The client_id.
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  name text not null,
  -- Runs where it can't keep a secret: in a browser, on a phone, on a desktop.
  is_public boolean not null,
  -- Gets access tokens that don't expire, and no refresh tokens.
  is_legacy boolean not null,
  secret_hash bytea,
  -- The previous secret works for a while, so that a running app can change over.
  previous_secret_hash bytea,
  previous_secret_until timestamptz(3),
  redirect_uris text[] not null,
  -- Origins of pages that may call the token endpoint from a browser.
  cors_origins text[] not null default '{}',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  check (is_public = (secret_hash is null))
);
create index oauth_clients_workspace on oauth_clients (workspace_id, created_at desc, id desc);

-- A user has authorized an app. Deleting the row ends everything that the authorization led to at once.
create table oauth_grants (
  id uuid primary key,
  client_id uuid not null references oauth_clients (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  created_at timestamptz(3) not null default now(),
  -- When the user last approved, or the app last got a token.
  last_used_at timestamptz(3) not null default now(),
  unique (client_id, user_id)
);
create index oauth_grants_user on oauth_grants (user_id, created_at desc, id desc);

-- All tokens that came from one code. They are revoked together when one of them is reused after its rotation.
create table oauth_families (
  id uuid primary key,
  grant_id uuid not null references oauth_grants (id) on delete cascade,
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3) not null default now()
);
create index oauth_families_grant on oauth_families (grant_id);
create index oauth_families_use on oauth_families (last_used_at);

create table oauth_codes (
  hash bytea primary key,
  grant_id uuid not null references oauth_grants (id) on delete cascade,
  redirect_uri text not null,
  -- S256 (RFC 7636); null for a confidential client that sent none.
  code_challenge text,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  -- Set by the exchange. Null again once those tokens are revoked, but used_at stays.
  family_id uuid references oauth_families (id) on delete set null
);
create index oauth_codes_grant on oauth_codes (grant_id);
create index oauth_codes_family on oauth_codes (family_id);
create index oauth_codes_expiry on oauth_codes (expires_at);

create table oauth_refresh_tokens (
  id uuid primary key,
  family_id uuid not null references oauth_families (id) on delete cascade,
  hash bytea not null unique,
  -- The token it replaced; null for the first of its family.
  parent_id uuid references oauth_refresh_tokens (id) on delete set null,
  created_at timestamptz(3) not null default now(),
  -- When it was first used; since then there is a newer one.
  rotated_at timestamptz(3),
  -- When a successor was used, which shows that the response had arrived: from then on, using this one counts as theft.
  spent_at timestamptz(3)
);
create index oauth_refresh_tokens_family on oauth_refresh_tokens (family_id);
create index oauth_refresh_tokens_parent on oauth_refresh_tokens (parent_id);
create index oauth_refresh_tokens_rotation on oauth_refresh_tokens (rotated_at);

-- ------------------------------------------------------------------------------------------------------------------
-- Access tokens
-- ------------------------------------------------------------------------------------------------------------------

create table access_tokens (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  -- The owner; for a workspace token the user who issued it.
  user_id uuid not null references users (id),
  type text not null check (type in ('personal_access_token', 'workspace_access_token', 'oauth')),
  name text not null,
  hash bytea not null unique,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3),
  last_used_at timestamptz(3),
  revoked_at timestamptz(3),
  oauth_family_id uuid references oauth_families (id) on delete cascade,
  -- The token that created this one, which is revoked along with it.
  created_by_token_id uuid,
  constraint access_tokens_oauth_check check ((type = 'oauth') = (oauth_family_id is not null))
);
create index access_tokens_user on access_tokens (user_id);
create index access_tokens_workspace on access_tokens (workspace_id, created_at, id);
create index access_tokens_family on access_tokens (oauth_family_id) where oauth_family_id is not null;
create index access_tokens_oauth_expiry on access_tokens (expires_at) where type = 'oauth';
create index access_tokens_created_by on access_tokens (created_by_token_id) where created_by_token_id is not null;

-- One-time links that an admin created to hand over stop working when the access that created them ends. The mailed copy
-- keeps working: only the owner of the email has it.
create function parley_end_links_of_token() returns trigger language plpgsql as $$
begin
  update one_time_links set hash = sha256(uuid_send(gen_random_uuid()))
    where created_by_token_id = old.id and used_at is null;
  return null;
end $$;
create trigger links_end_with_revoked_token after update of revoked_at on access_tokens
  for each row when (old.revoked_at is null and new.revoked_at is not null)
  execute function parley_end_links_of_token();
create trigger links_end_with_deleted_token after delete on access_tokens
  for each row when (old.type <> 'oauth') execute function parley_end_links_of_token();

create function parley_end_links_of_user() returns trigger language plpgsql as $$
begin
  update one_time_links set hash = sha256(uuid_send(gen_random_uuid()))
    where created_by = new.id and used_at is null;
  return null;
end $$;
create trigger links_end_with_admin after update of deactivated_at, role on users
  for each row when (
    (old.deactivated_at is null and new.deactivated_at is not null) or (old.role = 'admin' and new.role <> 'admin'))
  execute function parley_end_links_of_user();

-- ------------------------------------------------------------------------------------------------------------------
-- Audit log
-- ------------------------------------------------------------------------------------------------------------------

-- Who did what, from where. Names are kept as they were, also after the user is gone.
-- The log is a chain: each entry of a workspace gets a position and a hash over itself and the entry before it. Entries
-- are written without either, so that no transaction waits for another one. A worker seals them a moment later, in the
-- order in which it finds them committed.
create table audit_log (
  id bigint generated always as identity primary key,
  workspace_id uuid not null references workspaces (id),
  occurred_at timestamptz(3) not null default clock_timestamp(),
  action text not null,
  -- Null: nobody was signed in, or the server itself acted.
  user_id uuid,
  user_email text,
  credential text,
  credential_id uuid,
  subject_type text,
  subject_id text,
  ip text,
  user_agent text,
  details jsonb not null default '{}',
  -- Both null: not sealed yet. Positions of a workspace run 1, 2, 3… without a gap.
  position bigint,
  hash bytea,
  -- The chain covers SHA-256(salt || value) of what may have to be erased, so that value and salt can be removed and the
  -- chain still holds. The hash is stored once they are gone.
  who_salt bytea default uuid_send(gen_random_uuid()),
  who_hash bytea,
  details_salt bytea default uuid_send(gen_random_uuid()),
  details_hash bytea,
  constraint audit_log_sealed check ((position is null) = (hash is null)),
  constraint audit_log_who check (
    (who_salt is null) = (who_hash is not null)
    and (who_salt is not null or (user_email is null and ip is null and user_agent is null))),
  constraint audit_log_details check (
    (details_salt is null) = (details_hash is not null) and (details_salt is not null or details = '{}'))
);
create index audit_log_time on audit_log (workspace_id, occurred_at, id);
create index audit_log_action on audit_log (workspace_id, action, occurred_at, id);
create index audit_log_user on audit_log (workspace_id, user_id, occurred_at, id);
create index audit_log_subject on audit_log (workspace_id, subject_id, occurred_at, id);
create unique index audit_log_position on audit_log (workspace_id, position) where position is not null;
create index audit_log_unsealed on audit_log (id) where position is null;

-- Where the chain of each workspace begins and ends.
create table audit_chains (
  workspace_id uuid primary key references workspaces (id),
  -- The last entry that was removed because of its age, and its hash, from which the chain continues.
  pruned_position bigint not null,
  pruned_hash bytea not null,
  -- The last entry.
  head_position bigint not null,
  head_hash bytea not null,
  -- The last entry whose hash was copied to the object store.
  anchored_position bigint not null default 0
);

-- Protects the log from mistakes and careless programs. The owner of the database can switch these triggers off; the
-- hashes show it.
create function parley_audit_guard() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if exists (select 1 from audit_chains c where c.workspace_id = old.workspace_id and c.pruned_position >= old.position)
    then return old; end if;
    raise exception 'the audit log is append-only: entry % is not old enough to be removed', old.id;
  elsif tg_op = 'UPDATE' then
    if (new.id, new.workspace_id, new.occurred_at, new.action, new.user_id, new.credential, new.credential_id,
        new.subject_type, new.subject_id)
      is distinct from (old.id, old.workspace_id, old.occurred_at, old.action, old.user_id, old.credential,
        old.credential_id, old.subject_type, old.subject_id)
      or (old.position is not null and (new.position, new.hash) is distinct from (old.position, old.hash))
      or ((new.who_salt, new.who_hash, new.user_email, new.ip, new.user_agent)
        is distinct from (old.who_salt, old.who_hash, old.user_email, old.ip, old.user_agent)
        and (old.who_salt is null or new.who_salt is not null))
      or ((new.details_salt, new.details_hash, new.details)
        is distinct from (old.details_salt, old.details_hash, old.details)
        and (old.details_salt is null or new.details_salt is not null))
    then raise exception 'the audit log is append-only: entry % can''t be changed', old.id; end if;
    return new;
  end if;
  raise exception 'the audit log is append-only: it can''t be emptied';
end $$;
create trigger audit_log_guard before update or delete on audit_log
  for each row execute function parley_audit_guard();
create trigger audit_log_guard_truncate before truncate on audit_log
  for each statement execute function parley_audit_guard();

-- The beginning of a chain moves forward only, to an existing entry; the end never moves back.
create function parley_audit_chain_guard() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.workspace_id = old.workspace_id and new.head_position >= old.head_position
    and ((new.pruned_position, new.pruned_hash) is not distinct from (old.pruned_position, old.pruned_hash)
      or (new.pruned_position > old.pruned_position and exists (select 1 from audit_log l
        where l.workspace_id = new.workspace_id and l.position = new.pruned_position and l.hash = new.pruned_hash)))
  then return new; end if;
  raise exception 'the audit log is append-only: its chain can''t be cut';
end $$;
create trigger audit_chains_guard before update or delete on audit_chains
  for each row execute function parley_audit_chain_guard();
create trigger audit_chains_guard_truncate before truncate on audit_chains
  for each statement execute function parley_audit_chain_guard();

-- ------------------------------------------------------------------------------------------------------------------
-- Recordings
-- ------------------------------------------------------------------------------------------------------------------

create table meeting_types (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  name text not null,
  name_key text not null generated always as (parley_fold(name)) stored,
  scope text not null check (scope in ('internal', 'external')),
  -- Recordings of its scope get this type unless another one is chosen.
  is_default boolean not null default false,
  position integer not null,
  unique (workspace_id, name_key)
);
create unique index meeting_types_default on meeting_types (workspace_id, scope) where is_default;

create table recordings (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  title text not null,
  -- Cut to fit into an index row; folding can make a text many times longer.
  title_key text not null generated always as (left(parley_fold(title), 600)) stored,
  -- The generated title where none was given; null: a user chose the title. A language model may replace it.
  default_title text,
  start_datetime timestamptz(3) not null,
  end_datetime timestamptz(3) not null,
  duration_ms integer not null check (duration_ms >= 0),
  media_type text not null check (media_type in ('audio', 'transcript', 'video')),
  source text not null check (source in ('aircall', 'local_capture', 'meet', 'teams', 'upload', 'webex', 'zoom', 'other')),
  share_state text not null check (share_state in ('public', 'workspace', 'restricted')),
  meeting_type_id uuid references meeting_types (id),
  -- A user chose the meeting type, so changes of the participants no longer set it.
  meeting_type_by_hand boolean not null default false,
  -- Whether a participant from outside the workspace took part.
  external boolean not null,
  tags text[] not null default '{}',
  transcript_language text,
  -- Counts changes of the transcript, so that a rendered transcript can be cached.
  transcript_version integer not null default 0,
  calendar_event jsonb,
  crm jsonb,
  ai_summary text,
  ai_action_items jsonb,
  ai_template_sections jsonb,
  screenshares jsonb,
  has_thumbnail boolean not null default false,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index recordings_meeting_type on recordings (meeting_type_id);

create table recording_recorders (
  recording_id uuid not null references recordings (id) on delete cascade,
  user_id uuid not null references users (id),
  position integer not null,
  primary key (recording_id, user_id)
);
create index recording_recorders_user on recording_recorders (user_id);

create table participants (
  id uuid primary key,
  recording_id uuid not null references recordings (id) on delete cascade,
  workspace_id uuid not null references workspaces (id),
  position integer not null,
  name text not null,
  email text,
  email_key text generated always as (lower(email)) stored,
  phone text,
  scope text not null check (scope in ('internal', 'external', 'unknown')),
  -- Heard or seen in the recording.
  confirmed_attendee boolean not null,
  -- Took part as far as is known, heard or not. The attendance filter uses this.
  attended boolean not null,
  crm_contact_id text,
  observed_join_time timestamptz(3),
  observed_leave_time timestamptz(3)
);
create index participants_recording on participants (recording_id, position);
create index participants_email on participants (workspace_id, email_key) where email_key is not null;

create table private_notes (
  recording_id uuid not null references recordings (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  text text not null,
  primary key (recording_id, user_id)
);

create table recording_user_shares (
  recording_id uuid not null references recordings (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  created_at timestamptz(3) not null default now(),
  primary key (recording_id, user_id)
);
create index recording_user_shares_user on recording_user_shares (user_id);

create table recording_teams (
  recording_id uuid not null references recordings (id) on delete cascade,
  team_id uuid not null references teams (id) on delete cascade,
  created_at timestamptz(3) not null default now(),
  primary key (recording_id, team_id)
);
create index recording_teams_team on recording_teams (team_id);

-- Who sees which recording: one row for each recording and each principal that sees it. A principal is a user, a team,
-- all members of a workspace (workspaces.members_id), or the workspace itself (workspaces.id, for workspace tokens, which
-- see everything). The columns that lists filter by are copied here, so that listing a user's recordings never reads
-- recordings that the user can't see.
create table recording_grants (
  principal_id uuid not null,
  start_datetime timestamptz(3) not null,
  recording_id uuid not null references recordings (id) on delete cascade,
  title_key text not null,
  meeting_type_id uuid,
  external boolean not null,
  -- Includes the columns that lists filter by, so that a list reads the index alone.
  primary key (principal_id, start_datetime, recording_id) include (title_key, meeting_type_id, external)
);
create index recording_grants_recording on recording_grants (recording_id, principal_id);
create index recording_grants_meeting_type on recording_grants (principal_id, meeting_type_id, start_datetime, recording_id);
create index recording_grants_title on recording_grants using gin (principal_id, title_key gin_trgm_ops);

create table recording_media (
  recording_id uuid primary key references recordings (id) on delete cascade,
  -- The object's key is recordings/<id>/media.<format>.
  format text not null check (format in ('mp4', 'mp3')),
  has_storyboard boolean not null,
  created_at timestamptz(3) not null default now()
);

-- Recordings whose recording_added event is still to be recorded. The row is written with the recording and deleted with
-- the event, so that neither gets lost.
create table pending_announcements (
  recording_id uuid primary key references recordings (id) on delete cascade,
  -- The event is recorded at this time, even if the models have not finished.
  announce_at timestamptz(3) not null,
  -- Whether the recording changed meanwhile: then recording_updated follows recording_added.
  is_changed boolean not null default false
);
create index pending_announcements_due on pending_announcements (announce_at);

-- ------------------------------------------------------------------------------------------------------------------
-- Transcripts: stored segments, edits, transcription
-- ------------------------------------------------------------------------------------------------------------------

create table transcript_segments (
  recording_id uuid not null references recordings (id) on delete cascade,
  position integer not null,
  participant_id uuid references participants (id) on delete set null,
  speaker text not null,
  start_ms integer not null,
  end_ms integer not null,
  text text not null,
  -- The values before the first edit of those that were edited: any of text, speaker, participant_id.
  original jsonb,
  primary key (recording_id, position)
);
create index transcript_segments_participant on transcript_segments (participant_id);
create index transcript_segments_edited on transcript_segments (recording_id) where original is not null;

-- The history of a transcript: one row for each edit, whatever the number of segments.
create table transcript_edits (
  recording_id uuid not null references recordings (id) on delete cascade,
  -- Counts up within the recording.
  number integer not null,
  kind text not null check (
    kind in ('text', 'rename', 'merge', 'assign', 'undo', 'redo', 'transcribed', 'reapplied', 'supplied')),
  -- Null for a workspace token, for automatic changes, and for users who are gone.
  user_id uuid references users (id) on delete set null,
  created_at timestamptz(3) not null default clock_timestamp(),
  -- The recording's transcript_version after the edit.
  transcript_version integer not null,
  segments integer not null,
  -- What the user asked for, as the history shows it.
  details jsonb not null,
  -- What to write to undo the edit.
  changes jsonb not null,
  -- For undo and redo: the number of the entry that was reverted.
  undoes integer,
  -- The number of the entry that reverted this one; null while it is in effect.
  undone_by integer,
  primary key (recording_id, number)
);
create index transcript_edits_user on transcript_edits (user_id);

-- Transcription by a speech model: its progress and its failures.
create table transcriptions (
  recording_id uuid primary key references recordings (id) on delete cascade,
  status text not null check (status in ('pending', 'running', 'done', 'failed')),
  -- Failures since a chunk of audio last succeeded, and when the first of them was.
  attempts integer not null default 0,
  failing_since timestamptz(3),
  -- When to try again after a failure; null: at once.
  not_before timestamptz(3),
  -- Why the last attempt failed, shown to users.
  last_error text,
  progress integer not null default 0 check (progress between 0 and 100),
  -- Null until the audio has been cut.
  chunks_total integer,
  -- The transcript_version that this transcription wrote. The transcript of any other version is not its own.
  written_version integer,
  -- What to do with edits when the transcription replaces an existing transcript; null: there is none to replace.
  edits text check (edits in ('keep', 'discard')),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index transcriptions_unfinished on transcriptions (not_before) where status in ('pending', 'running');

-- The chunks of audio of one transcription, and what the model returned for each. The audio is cut again after a restart;
-- chunks with a result are not sent again.
create table transcription_chunks (
  recording_id uuid not null references transcriptions (recording_id) on delete cascade,
  position integer not null,
  -- From the start of the recording; neighbours overlap.
  start_ms integer not null,
  end_ms integer not null,
  -- Null: not transcribed yet.
  result jsonb,
  primary key (recording_id, position)
);

-- ------------------------------------------------------------------------------------------------------------------
-- Language model: summaries, action items, titles, sections that admins define
-- ------------------------------------------------------------------------------------------------------------------

create table section_templates (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  title text not null,
  -- Without case, as allowed_sections compares titles.
  title_key text not null generated always as (lower(normalize(title, NFKC))) stored,
  kind text not null check (kind in ('text', 'bullets', 'checklist', 'table', 'question-answer')),
  prompt text not null,
  position integer not null,
  is_enabled boolean not null default true,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  unique (workspace_id, title_key)
);

-- An admin's settings. Without a row, the model is used within the server's limit.
create table intelligence_settings (
  workspace_id uuid primary key references workspaces (id),
  is_enabled boolean not null default true,
  max_tokens_per_day bigint check (max_tokens_per_day > 0),
  updated_at timestamptz(3) not null default now()
);

-- Tokens per workspace and day (UTC) as the model's server counted them, estimated where it did not say. Includes tokens
-- reserved for requests in flight.
create table intelligence_usage (
  workspace_id uuid not null references workspaces (id),
  day date not null,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  requests integer not null default 0,
  primary key (workspace_id, day)
);

create table intelligence_runs (
  recording_id uuid primary key references recordings (id) on delete cascade,
  -- waiting: resumes at not_before. failed: a user has to act; where not_before is set, it is retried all the same.
  status text not null check (status in ('pending', 'running', 'waiting', 'done', 'failed')),
  -- Counts requests for a run: a run that began before the last request writes nothing.
  request_count integer not null default 1,
  -- Failures since a model request last succeeded, and when the first of them was.
  attempts integer not null default 0,
  failing_since timestamptz(3),
  not_before timestamptz(3),
  -- Why it waits or failed, shown to users.
  last_error text,
  -- Parts of the result that could not be generated although the rest could, shown to users.
  notes text[] not null default '{}',
  -- What the last run wrote, so that a later run can tell it from what users chose since.
  written_title text,
  written_meeting_type_id uuid references meeting_types (id) on delete set null,
  model text,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  requested_at timestamptz(3) not null default now(),
  finished_at timestamptz(3),
  updated_at timestamptz(3) not null default now()
);
create index intelligence_runs_due on intelligence_runs (not_before) where status <> 'done';

-- The model's responses within an unfinished run, by a hash of the request: a run that is killed and restarted does not
-- send, and pay for, a request twice.
create table intelligence_steps (
  recording_id uuid not null references intelligence_runs (recording_id) on delete cascade,
  key text not null,
  response jsonb not null,
  primary key (recording_id, key)
);

-- ------------------------------------------------------------------------------------------------------------------
-- Highlights and stories
-- ------------------------------------------------------------------------------------------------------------------

create table highlights (
  id uuid primary key,
  -- The recording's workspace: a list of all highlights of a workspace reads highlights_workspace alone.
  workspace_id uuid not null,
  recording_id uuid not null references recordings (id) on delete cascade,
  -- Null where unknown. May change and delete the highlight, as the recording's recorders may.
  created_by uuid references users (id) on delete set null,
  text text not null,
  transcript text not null default '',
  speakers text[] not null default '{}',
  start_ms integer not null,
  duration_ms integer not null,
  tags text[] not null default '{}',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index highlights_recording on highlights (recording_id, start_ms, id);
create index highlights_workspace on highlights (workspace_id, created_at desc, id desc);

create table stories (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  created_by uuid references users (id) on delete set null,
  title text not null,
  description text not null default '',
  banner_image_url text,
  tags text[] not null default '{}',
  created_at timestamptz(3) not null default now(),
  last_edited_at timestamptz(3) not null default now()
);
create index stories_workspace on stories (workspace_id, created_at, id);

create table story_highlights (
  story_id uuid not null references stories (id) on delete cascade,
  highlight_id uuid not null references highlights (id) on delete cascade,
  -- The order; may have gaps.
  position integer not null,
  primary key (story_id, highlight_id)
);
create index story_highlights_highlight on story_highlights (highlight_id);

-- Copies of banner images, so that browsers load them from here and not from the sites they come from.
create table story_banners (
  story_id uuid primary key references stories (id) on delete cascade,
  -- The URL that was fetched; if the story has another URL, the copy is out of date.
  url text not null,
  content_type text,
  -- Null: the image could not be fetched; tried again after a while.
  bytes bytea,
  fetched_at timestamptz(3) not null default now(),
  check ((bytes is null) = (content_type is null))
);

-- ------------------------------------------------------------------------------------------------------------------
-- Public links
-- ------------------------------------------------------------------------------------------------------------------

-- Links to a recording, highlight or story that work without signing in. The URL contains the id and an HMAC of it under
-- the installation's secret, so the database alone does not reveal a link's URL.
create table public_links (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null references workspaces (id),
  kind text not null check (kind in ('recording', 'highlight', 'story')),
  recording_id uuid references recordings (id) on delete cascade,
  highlight_id uuid references highlights (id) on delete cascade,
  story_id uuid references stories (id) on delete cascade,
  -- Null: created by a change of share_state, or by a user who is gone.
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

-- The range and title of each highlight that a link of a highlight or story shows, approved by a user who may share the
-- recording. A highlight that has since grown beyond its approved range is left out.
create table public_link_highlights (
  link_id uuid not null references public_links (id) on delete cascade,
  highlight_id uuid not null references highlights (id) on delete cascade,
  start_ms integer not null,
  end_ms integer not null,
  text text not null,
  primary key (link_id, highlight_id)
);
create index public_link_highlights_highlight on public_link_highlights (highlight_id);

-- Files rendered for links of highlights and stories. Their keys begin with recordings/<recording>/clips/<id>/.
create table clips (
  id uuid primary key default gen_random_uuid(),
  recording_id uuid not null references recordings (id) on delete cascade,
  -- Null: the highlight is gone, and the files are to be deleted.
  highlight_id uuid references highlights (id) on delete set null,
  start_ms integer not null,
  end_ms integer not null,
  state text not null default 'preparing' check (state in ('preparing', 'ready', 'failed')),
  format text check (format in ('mp4', 'mp3')),
  -- The names of the stored files.
  files text[] not null default '{}',
  -- Shown to users.
  error text,
  -- How often the media program was killed while rendering it.
  kills integer not null default 0,
  created_at timestamptz(3) not null default clock_timestamp(),
  unique (highlight_id, start_ms, end_ms),
  check (state <> 'ready' or format is not null)
);
create index clips_recording on clips (recording_id);
create index clips_preparing on clips (created_at) where state = 'preparing';

-- A recording has links only while it is public, whatever changes its share_state: publishing creates the first link,
-- unpublishing revokes all links permanently.
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

-- ------------------------------------------------------------------------------------------------------------------
-- Uploads
-- ------------------------------------------------------------------------------------------------------------------

create table uploads (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  -- For a workspace token the user who issued the token.
  created_by uuid not null references users (id),
  scope text not null check (scope in ('personal', 'workspace')),
  media_type text not null check (media_type in ('audio', 'transcript', 'video')),
  title text not null,
  -- Whether the title was generated because none was given.
  has_default_title boolean not null default false,
  status text not null check (status in ('initial', 'awaiting', 'processing', 'staged', 'promoting', 'success', 'failure')),
  auto_promote boolean not null,
  start_datetime timestamptz(3),
  team_id uuid references teams (id) on delete set null,
  recorder_ids uuid[] not null,
  participants jsonb not null default '[]',
  recording_id uuid references recordings (id) on delete set null,
  failure_reason text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),

  -- The declared format of an upload by the older operation; null for all others. Such an upload takes more formats and
  -- reports by upload_status.
  one_step text check (one_step in ('mov', 'mp4', 'mp3', 'm4a')),
  -- What an import adds to the attributes of an upload; null: not an import.
  import_data jsonb,
  -- The sender's own id of an import, so that sending it twice creates one recording.
  external_id text,

  -- The file: until when and how much of it may be sent.
  url_expires_at timestamptz(3),
  max_duration_sec integer,
  max_upload_bytes bigint,
  -- When to check next whether the file has arrived.
  next_check_at timestamptz(3),
  -- Size of a resumable upload, as its sender announced it.
  resumable_length bigint,
  -- Last sign of a sender that sends in pieces (active_at) or the whole file (put_active_at).
  active_at timestamptz(3),
  put_active_at timestamptz(3),
  -- When the whole file had arrived, and its etag, which tells it from a file that arrives later.
  received_at timestamptz(3),
  file_etag text,
  media_expires_at timestamptz(3),
  -- What was measured in the file.
  facts jsonb,
  -- The future recording: its objects are stored before its row exists.
  planned_recording_id uuid,
  -- Size of its file, or the room reserved for the file while it is sent. Counts against quotas until the upload ends.
  reserved_bytes bigint not null default 0,

  -- The first attempt of the job that is to end the present status, and how many there were; null: none yet.
  work_started_at timestamptz(3),
  work_attempts integer not null default 0,
  -- How many of them ended because the media program was killed from outside.
  work_kills integer not null default 0,
  -- The kind of error of the last failed attempt, for the log.
  work_error text,

  -- What is kept of the transcript once its copy is removed: language, bytes, and speakers that are not participants.
  transcript_info jsonb,
  -- Whether the copy of the transcript has been removed, or there was none.
  is_transcript_removed boolean not null default false,

  constraint uploads_media check (media_type = 'transcript' or (
    url_expires_at is not null and max_duration_sec is not null and max_upload_bytes is not null
    and planned_recording_id is not null))
);
create index uploads_workspace on uploads (workspace_id, created_at, id);
create index uploads_personal on uploads (created_by, created_at, id) where scope = 'personal';
create index uploads_recording on uploads (recording_id) where recording_id is not null;
create unique index uploads_planned on uploads (planned_recording_id) where planned_recording_id is not null;
-- A failed import may be repeated. Imports that users run for themselves don't conflict with those of others.
create unique index uploads_external_id on uploads
  (workspace_id, scope, (case when scope = 'personal' then created_by end), external_id) nulls not distinct
  where external_id is not null and status <> 'failure';
-- For workers that check for uploads in a status.
create index uploads_unfinished on uploads (updated_at) where status in ('initial', 'awaiting', 'staged', 'failure');
create index uploads_promoting on uploads (updated_at) where status = 'promoting';
create index uploads_awaiting on uploads (next_check_at) where status = 'awaiting';
create index uploads_staged on uploads (media_expires_at) where status = 'staged' and media_expires_at is not null;
create index uploads_processing on uploads (updated_at) where status = 'processing';
create index uploads_work on uploads (work_started_at)
  where status in ('processing', 'promoting') and work_started_at is not null;
create index uploads_with_transcript on uploads (updated_at) where status = 'success' and not is_transcript_removed;
create index uploads_without_recording on uploads (updated_at) where status = 'success' and recording_id is null;
-- For the unfinished uploads of a deactivated user, and for quotas.
create index uploads_unfinished_of_user on uploads (created_by)
  where status in ('awaiting', 'processing', 'staged', 'promoting');
create index uploads_open on uploads (created_by)
  where status in ('initial', 'awaiting', 'processing', 'staged', 'promoting');
create index uploads_reserved on uploads (workspace_id) include (reserved_bytes)
  where reserved_bytes > 0 and status in ('initial', 'awaiting', 'processing', 'staged', 'promoting');

-- A table of its own, because a transcript is large and few reads need it.
create table upload_transcripts (
  upload_id uuid primary key references uploads (id) on delete cascade,
  language text not null,
  segments jsonb not null,
  -- Size of the segments as JSON, to limit the size of a page of uploads.
  bytes integer not null
);

-- Which process writes to a resumable upload: one at a time, and only while it renews the lease. Unlogged, because a crash
-- of the database ends all connections anyway.
create unlogged table resumable_leases (
  upload_id uuid primary key references uploads (id) on delete cascade,
  holder uuid not null,
  expires_at timestamptz(3) not null,
  -- Another process waits for the lease: the holder should stop.
  wanted boolean not null default false
);

-- ------------------------------------------------------------------------------------------------------------------
-- Retention, legal holds and erasing personal data
-- ------------------------------------------------------------------------------------------------------------------

create table retention_rules (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  name text not null,
  -- Recordings that started longer ago are deleted if they match all criteria below that are set.
  older_than_days integer not null check (older_than_days between 1 and 36500),
  team_id uuid references teams (id) on delete cascade,
  meeting_type_id uuid references meeting_types (id) on delete cascade,
  tag text,
  scope text check (scope in ('internal', 'external')),
  is_enabled boolean not null,
  -- A new or changed rule takes effect later, so that a mistake can be noticed in time.
  acts_from timestamptz(3) not null,
  created_by uuid not null references users (id),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index retention_rules_workspace on retention_rules (workspace_id, created_at, id);

-- Recordings that no user and no rule may delete. Deleting a recording fails while this refers to it.
create table legal_holds (
  recording_id uuid primary key references recordings (id),
  workspace_id uuid not null references workspaces (id),
  reason text not null,
  placed_by uuid not null references users (id),
  placed_at timestamptz(3) not null default now()
);
create index legal_holds_workspace on legal_holds (workspace_id, placed_at, recording_id);

-- What rules have deleted: only counts and ids.
create table retention_receipts (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  recording_id uuid not null,
  -- As it was; the rule may be gone.
  rule_id uuid not null,
  rule_name text not null,
  receipt jsonb not null,
  deleted_at timestamptz(3) not null default now()
);
create index retention_receipts_workspace on retention_receipts (workspace_id, deleted_at, id);

-- Requests to erase someone's personal data, and what was done.
create table erasures (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  requested_by uuid not null references users (id),
  -- Their account, which is emptied first; null: they had none.
  user_id uuid references users (id),
  -- Whose data it is, as encrypted JSON: email, and the names of the account. Removed when the erasure is done.
  person bytea,
  -- What happens to recordings they took part in: deleted, or kept without them.
  recordings text not null check (recordings in ('anonymise', 'delete')),
  state text not null default 'pending' check (state in ('pending', 'running', 'done')),
  receipt jsonb not null default '{}',
  created_at timestamptz(3) not null default now(),
  finished_at timestamptz(3)
);
create index erasures_workspace on erasures (workspace_id, created_at, id);

-- ------------------------------------------------------------------------------------------------------------------
-- Search: the words of each recording, indexed in the transaction of each change. Decision 0010 says why it has this form.
-- ------------------------------------------------------------------------------------------------------------------

-- Words without case and accents, not stemmed.
create text search configuration parley_search (copy = simple);
alter text search configuration parley_search
  alter mapping for asciiword, word, numword, hword, asciihword, numhword, hword_part, hword_asciipart, hword_numpart
  with unaccent, simple;

-- Splits what PostgreSQL's parser would take for a URL, a path, a signed number or a tag into words. Scripts written
-- without spaces become single characters, so that any part of such a text is found as a phrase.
create function parley_search_clean(value text) returns text
  language sql immutable strict parallel safe
  return case
    when octet_length(value) = length(value) then regexp_replace(value, '[-./@_:<>&+#~]', ' ', 'g')
    else regexp_replace(
      regexp_replace(
        case when value is nfkc normalized then value else normalize(value, nfkc) end,
        '[-./@_:<>&+#~]', ' ', 'g'),
      '([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f])',
      ' \1 ', 'g')
    end;

-- The words of a clean text with their positions. A text as long as a book is cut, because a tsvector holds 1 MB. A text
-- in ASCII has no accents to remove.
create function parley_search_vector(clean text) returns tsvector
  language sql immutable strict parallel safe
  return case
    when octet_length(clean) = length(clean) then to_tsvector('simple'::regconfig, left(clean, 200000))
    else to_tsvector('parley_search'::regconfig, left(clean, 200000))
    end;

-- PostgreSQL's name of a language, null where it has no stemmer for it. Codes as in ISO 639, with or without a region.
create function parley_search_language(code text) returns text
  language sql immutable strict parallel safe
  return case split_part(replace(lower(code), '_', '-'), '-', 1)
    when 'ar' then 'arabic' when 'ara' then 'arabic' when 'hy' then 'armenian' when 'hye' then 'armenian'
    when 'eu' then 'basque' when 'eus' then 'basque' when 'ca' then 'catalan' when 'cat' then 'catalan'
    when 'da' then 'danish' when 'dan' then 'danish' when 'nl' then 'dutch' when 'nld' then 'dutch'
    when 'dut' then 'dutch' when 'en' then 'english' when 'eng' then 'english' when 'fi' then 'finnish'
    when 'fin' then 'finnish' when 'fr' then 'french' when 'fra' then 'french' when 'fre' then 'french'
    when 'de' then 'german' when 'deu' then 'german' when 'ger' then 'german' when 'el' then 'greek'
    when 'ell' then 'greek' when 'gre' then 'greek' when 'hi' then 'hindi' when 'hin' then 'hindi'
    when 'hu' then 'hungarian' when 'hun' then 'hungarian' when 'id' then 'indonesian' when 'ind' then 'indonesian'
    when 'ga' then 'irish' when 'gle' then 'irish' when 'it' then 'italian' when 'ita' then 'italian'
    when 'lt' then 'lithuanian' when 'lit' then 'lithuanian' when 'ne' then 'nepali' when 'nep' then 'nepali'
    when 'no' then 'norwegian' when 'nb' then 'norwegian' when 'nn' then 'norwegian' when 'nor' then 'norwegian'
    when 'pt' then 'portuguese' when 'por' then 'portuguese' when 'ro' then 'romanian' when 'ron' then 'romanian'
    when 'rum' then 'romanian' when 'ru' then 'russian' when 'rus' then 'russian' when 'sr' then 'serbian'
    when 'srp' then 'serbian' when 'es' then 'spanish' when 'spa' then 'spanish' when 'sv' then 'swedish'
    when 'swe' then 'swedish' when 'ta' then 'tamil' when 'tam' then 'tamil' when 'tr' then 'turkish'
    when 'tur' then 'turkish' when 'yi' then 'yiddish' when 'yid' then 'yiddish'
    end;

-- A stem as it is indexed, with its language: stems of different languages never match each other, nor a plain word.
create function parley_search_stem(language text, word text) returns text
  language sql immutable strict parallel safe
  return '=' || language || '=' || (ts_lexize((language || '_stem')::regdictionary, word))[1];

-- Words and stems of a short text, all of one weight, with their positions.
create function parley_search_short(value text, weight "char", language text) returns tsvector
  language sql immutable parallel safe
  return setweight(
    coalesce((
      select string_agg(quote_literal(w.form) || ':' || array_to_string(w.positions, ','), ' ')::tsvector
      from (
        select l.lexeme as form, l.positions from unnest(parley_search_vector(parley_search_clean(value))) l
        union all
        select parley_search_stem(language, l.lexeme), array_agg(p)
        from unnest(parley_search_vector(parley_search_clean(value))) l, unnest(l.positions) p
        where parley_search_stem(language, l.lexeme) is not null
        group by 1
      ) w), ''::tsvector),
    weight);

-- The index: one row for each recording.
create table search_recordings (
  recording_id uuid primary key references recordings (id) on delete cascade,
  start_datetime timestamptz(3) not null,
  -- The principals that see it, as in recording_grants. In the same index as the words, so that a search reads nothing
  -- that the caller can't see.
  principals uuid[] not null,
  -- PostgreSQL's name of the transcript's language, null where it has no stemmer for it.
  language text,
  -- For ranking: title (A), tags and participants (B), highlights (C).
  head tsvector not null,
  -- Every word and stem of the recording, without positions.
  words tsvector not null
);
alter table search_recordings alter column words set storage external;
-- With a list of pending entries (4 MB): without it, indexing a four-hour recording takes 27 ms longer.
create index search_recordings_words on search_recordings using gin (principals, words)
  with (fastupdate = on, gin_pending_list_limit = 4096);

-- The transcript in chunks of about ten minutes: words with their positions, which say where a hit is. Not indexed.
create table search_chunks (
  recording_id uuid not null references recordings (id) on delete cascade,
  number integer not null,
  -- The positions of the segments in it.
  positions integer[] not null,
  -- The word /s/s, which no text can contain, separates two segments.
  words tsvector not null,
  primary key (recording_id, number)
);
alter table search_chunks alter column words set storage external;

-- The recordings that the open transaction has changed: each is indexed once, at the end of the transaction, however often
-- it was changed. Empty outside transactions. The primary key makes transactions that change one recording index it one
-- after the other, so that the later one sees what the earlier one did.
create table search_changes (
  recording_id uuid primary key,
  -- Whether its segments may have changed.
  transcript boolean not null,
  -- Whether anything but the principals that see it may have changed.
  content boolean not null
);

-- Indexes one recording that the transaction has changed.
-- transcript, content: as in search_changes.
create function parley_search_index(target uuid, transcript boolean, content boolean) returns void
  language plpgsql as $$
declare
  recording record;
  dictionary regdictionary;
  viewers uuid[];
  tag text;
  forms text[];
  heads tsvector;
  is_new boolean := not exists (select 1 from search_recordings s where s.recording_id = target);
begin
  select r.id, r.title, r.tags, r.start_datetime, parley_search_language(r.transcript_language) as language
    into recording from recordings r where r.id = target;
  if not found then return; end if;
  viewers := array(select distinct g.principal_id from recording_grants g where g.recording_id = target);
  if not (is_new or transcript or content) then
    update search_recordings s set principals = viewers
      where s.recording_id = target and s.principals is distinct from viewers;
    return;
  end if;

  heads := parley_search_short(recording.title, 'A', recording.language)
    || parley_search_short(array_to_string(recording.tags, ' , '), 'B', recording.language)
    || coalesce((
      select parley_search_short(string_agg(concat_ws(' ', p.name, p.email), ' ' order by p.position), 'B', null)
      from participants p where p.recording_id = target), '')
    || coalesce((
      select parley_search_short(
        left(string_agg(concat_ws(' ', h.text, array_to_string(h.tags, ' ')), ' ' order by h.start_ms), 100000),
        'C', recording.language)
      from highlights h where h.recording_id = target), '');

  if recording.language is not null then
    dictionary := (recording.language || '_stem')::regdictionary;
    tag := '=' || recording.language || '=';
  end if;
  if is_new or transcript then
    delete from search_chunks c where c.recording_id = target;
    with chunks as (
      insert into search_chunks (recording_id, number, positions, words)
      select target, min(position), array_agg(position order by position),
        parley_search_vector(replace(
          parley_search_clean(string_agg(replace(text, E'\x1f', ' '), E'\x1f' order by position)),
          E'\x1f', ' /s/s '))
      from (
        select position, text, part, row_number() over (partition by part order by position) / 200 as block
        from (
          -- A tsvector keeps the first 256 positions of a word, and positions up to 16,383.
          select position, text, sum(octet_length(text)) over (order by position) / 12000 as part
          from transcript_segments where recording_id = target
        ) s
      ) s
      group by part, block
      returning words
    )
    select array_agg(l) into forms
    from (select l from chunks, unnest(tsvector_to_array(words)) l group by l) l;
  else
    select array_agg(l) into forms
    from (
      select l from search_chunks c, unnest(tsvector_to_array(c.words)) l where c.recording_id = target group by l) l;
  end if;
  forms := array_remove(forms, '/s/s');
  if dictionary is not null then
    forms := forms || array(
      select tag || stem from unnest(forms) l, lateral (select (ts_lexize(dictionary, l))[1] as stem offset 0) s
      where stem is not null);
  end if;
  forms := coalesce(forms, '{}') || tsvector_to_array(heads);
  if cardinality(forms) > 30000 then
    -- A tsvector holds 1 MB. The longest are dropped first, which are not real words.
    forms := array(
      select form from (
        select form, sum(octet_length(form) + 4) over (order by octet_length(form), form) as bytes
        from (select distinct form from unnest(forms) form) f) f
      where bytes < 900000);
  end if;

  insert into search_recordings as s (recording_id, start_datetime, principals, language, head, words)
  values (target, recording.start_datetime, viewers, recording.language, heads, array_to_tsvector(forms))
  on conflict (recording_id) do update
    set start_datetime = excluded.start_datetime, principals = excluded.principals, language = excluded.language,
      head = excluded.head, words = excluded.words;
end $$;

create function parley_search_changed() returns trigger language plpgsql as $$
begin
  perform parley_search_index(c.recording_id, c.transcript, c.content)
    from search_changes c where c.recording_id = new.recording_id;
  delete from search_changes where recording_id = new.recording_id;
  return null;
end $$;
create constraint trigger search_changes_deferred after insert on search_changes
  deferrable initially deferred for each row execute function parley_search_changed();

-- Adds recordings to search_changes.
create function parley_search_mark_changed(ids uuid[], is_transcript boolean, is_content boolean) returns void
  language sql as $$
  insert into search_changes as c (recording_id, transcript, content)
  select id, is_transcript, is_content from (select distinct unnest(ids) as id) i order by id
  on conflict (recording_id) do update
    set transcript = c.transcript or excluded.transcript, content = c.content or excluded.content
    where (c.transcript, c.content) is distinct from (c.transcript or excluded.transcript, c.content or excluded.content)
$$;

-- Triggers for inserted and deleted rows. Arguments: transcript and content, as in search_changes.
create function parley_search_added() returns trigger language plpgsql as $$
begin
  perform parley_search_mark_changed(array(select distinct recording_id from added), tg_argv[0]::boolean, tg_argv[1]::boolean);
  return null;
end $$;
create function parley_search_removed() returns trigger language plpgsql as $$
begin
  perform parley_search_mark_changed(array(select distinct recording_id from removed), tg_argv[0]::boolean, tg_argv[1]::boolean);
  return null;
end $$;

create trigger search_added after insert on transcript_segments referencing new table as added
  for each statement execute function parley_search_added(true, true);
create trigger search_removed after delete on transcript_segments referencing old table as removed
  for each statement execute function parley_search_removed(true, true);
create trigger search_added after insert on participants referencing new table as added
  for each statement execute function parley_search_added(false, true);
create trigger search_removed after delete on participants referencing old table as removed
  for each statement execute function parley_search_removed(false, true);
create trigger search_added after insert on highlights referencing new table as added
  for each statement execute function parley_search_added(false, true);
create trigger search_removed after delete on highlights referencing old table as removed
  for each statement execute function parley_search_removed(false, true);
create trigger search_added after insert on recording_grants referencing new table as added
  for each statement execute function parley_search_added(false, false);
create trigger search_removed after delete on recording_grants referencing old table as removed
  for each statement execute function parley_search_removed(false, false);

-- Triggers for updated rows. They compare the columns that are searched: a change of speakers, for instance, updates every
-- segment and changes no word.
create function parley_search_segments_updated() returns trigger language plpgsql as $$
begin
  perform parley_search_mark_changed(array(
    select distinct id from (
      (select recording_id as id, position, text from removed except all select recording_id, position, text from added)
      union all
      (select recording_id, position, text from added except all select recording_id, position, text from removed)) d),
    true, true);
  return null;
end $$;
create trigger search_updated after update on transcript_segments referencing old table as removed new table as added
  for each statement execute function parley_search_segments_updated();

create function parley_search_participants_updated() returns trigger language plpgsql as $$
begin
  perform parley_search_mark_changed(array(
    select unnest(array[o.recording_id, n.recording_id]) from removed o join added n using (id)
    where (o.recording_id, o.name, o.email) is distinct from (n.recording_id, n.name, n.email)), false, true);
  return null;
end $$;
create trigger search_updated after update on participants referencing old table as removed new table as added
  for each statement execute function parley_search_participants_updated();

create function parley_search_highlights_updated() returns trigger language plpgsql as $$
begin
  perform parley_search_mark_changed(array(
    select unnest(array[o.recording_id, n.recording_id]) from removed o join added n using (id)
    where (o.recording_id, o.text, o.tags) is distinct from (n.recording_id, n.text, n.tags)), false, true);
  return null;
end $$;
create trigger search_updated after update on highlights referencing old table as removed new table as added
  for each statement execute function parley_search_highlights_updated();

create function parley_search_recordings_added() returns trigger language plpgsql as $$
begin
  perform parley_search_mark_changed(array(select id from added), true, true);
  return null;
end $$;
create trigger search_added after insert on recordings referencing new table as added
  for each statement execute function parley_search_recordings_added();

create function parley_search_recordings_updated() returns trigger language plpgsql as $$
begin
  perform parley_search_mark_changed(array(
    select n.id from removed o join added n using (id)
    where (o.title, o.tags, o.transcript_language, o.start_datetime)
      is distinct from (n.title, n.tags, n.transcript_language, n.start_datetime)), false, true);
  return null;
end $$;
create trigger search_updated after update on recordings referencing old table as removed new table as added
  for each statement execute function parley_search_recordings_updated();

-- The recordings that match, in no order. A function with its own settings: the planner does not know how large `words` is
-- and would otherwise prefer reading the whole table.
create function parley_search_find(viewers uuid[], wanted tsquery, ranked tsquery)
  returns table (recording_id uuid, start_datetime timestamptz, head_score integer)
  language sql stable rows 100
  set enable_seqscan = off set jit = off
  as $$
  select s.recording_id, s.start_datetime,
    (1000000 * numnode(ranked) * ts_rank('{0, 0.3, 0.6, 1}', s.head, ranked))::integer
  from search_recordings s
  where s.principals && viewers and s.words @@ wanted
$$;

-- ------------------------------------------------------------------------------------------------------------------
-- Events: what happened, for webhooks and the feed
-- ------------------------------------------------------------------------------------------------------------------

-- The outbox. An event is written in the transaction of the change it reports, and never changed.
create table events (
  id bigint generated always as identity primary key,
  event_id uuid not null unique,
  workspace_id uuid not null references workspaces (id),
  type text not null,
  subject_id uuid not null,
  -- The recording whose grants decide who may receive it; null for uploads and stories.
  recording_id uuid,
  -- The principals that may receive it, where no grants decide.
  audience uuid[],
  -- The state of the subject at the time of the event, which later changes would overwrite.
  data jsonb not null,
  -- When it was written, not when its transaction began: times of one subject never run backwards.
  occurred_at timestamptz(3) not null default clock_timestamp(),
  -- Its transaction. Ids are assigned before the commit, so a reader stops before the oldest open transaction, which may
  -- still add smaller ids.
  xid xid8 not null default pg_current_xact_id()
);
create index events_workspace on events (workspace_id, id);
create index events_subject on events (subject_id, id);
create index events_recording on events (recording_id) where recording_id is not null;
create index events_old on events (occurred_at);

-- Events for which no deliveries have been created yet. Filled by a trigger, so that no event is missed.
create table waiting_events (
  event_id bigint primary key
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- Positions in the feed. They are assigned when deliveries are created, by one process at a time and in the order of ids,
-- so that no event ever appears before one that a reader has already seen. Ids can't be used for that: they are assigned
-- before the commit.
create table feed_positions (
  event_id bigint primary key,
  workspace_id uuid not null,
  position bigint not null
);
create unique index feed_positions_workspace on feed_positions (workspace_id, position);
create sequence feed_positions_position_seq owned by feed_positions.position;

create function parley_events_added() returns trigger language plpgsql as $$
begin
  insert into waiting_events select id from added;
  return null;
end $$;
create trigger events_added after insert on events
  referencing new table as added for each statement execute function parley_events_added();

create function parley_events_removed() returns trigger language plpgsql as $$
begin
  delete from feed_positions where event_id in (select id from removed);
  return null;
end $$;
create trigger events_removed after delete on events
  referencing old table as removed for each statement execute function parley_events_removed();

-- ------------------------------------------------------------------------------------------------------------------
-- Hooks
-- ------------------------------------------------------------------------------------------------------------------

create table hooks (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  -- For a workspace token the user who issued it.
  created_by uuid not null references users (id),
  scope text not null check (scope in ('personal', 'workspace')),
  -- The API version it was created with.
  version text not null,
  hook_url text not null,
  -- User name and password from the URL as `user:password`, encrypted with a key derived from PARLEY_SECRET; null: the
  -- URL had none. hook_url never contains them.
  credentials bytea,
  hook_type text not null,
  include jsonb not null,
  -- Null: it is enabled.
  disabled_reason text,
  disabled_at timestamptz(3),
  -- Encrypted with a key derived from PARLEY_SECRET.
  secret bytea not null,
  -- The previous secret still signs until then.
  previous_secret bytea,
  previous_secret_until timestamptz(3),
  -- When the current series of failures began; null: the last attempt succeeded, or there was none.
  failing_since timestamptz(3),
  inserted_at timestamptz(3) not null default now(),
  -- The time of the next delivery, or earlier; null: none is pending.
  next_due_at timestamptz(3),
  -- The worker that sends to it now, and when its lease ends.
  leased_by uuid,
  leased_until timestamptz(3),
  -- When sending may resume, as the receiver asked (Retry-After); null: it has not.
  paused_until timestamptz(3),

  -- The access that created the hook, or enabled it after that access had ended. The hook ends with it.
  -- The token; null: the user did, signed in.
  token_id uuid,
  -- When that token expires. From then on nothing is sent, also before a worker has noticed.
  access_until timestamptz(3),
  -- Of an app's hook: the app's access, and the tokens that came from the same code as the one that created the hook.
  oauth_grant_id uuid,
  oauth_family_id uuid
);
create index hooks_workspace on hooks (workspace_id, hook_type, inserted_at, id);
create index hooks_url on hooks (workspace_id, hook_url);
create index hooks_due on hooks (next_due_at) where next_due_at is not null and disabled_at is null;
create index hooks_creator on hooks (created_by);
create index hooks_token on hooks (token_id) where token_id is not null;
create index hooks_grant on hooks (oauth_grant_id) where oauth_grant_id is not null;
create index hooks_family on hooks (oauth_family_id) where oauth_family_id is not null;
create index hooks_access_until on hooks (access_until) where access_until is not null and disabled_at is null;

-- Disables hooks and records it in the audit log, in the transaction that ends the access.
create function parley_disable_hooks(ids uuid[], reason text) returns void language plpgsql as $$
begin
  -- Locks in the order of ids, as everywhere, so that two transactions never wait for each other.
  perform 1 from hooks where id = any(ids) and disabled_at is null order by id for no key update;
  with disabled as (
    update hooks set disabled_at = now(), disabled_reason = reason,
        -- A worker that finds its lease gone sends nothing more.
        leased_by = null, leased_until = case when leased_until > now() then now() + interval '10 s' end
      where id = any(ids) and disabled_at is null
      returning id, workspace_id, hook_type
  )
  insert into audit_log (workspace_id, action, subject_type, subject_id, details)
    select workspace_id, 'hook_disabled', 'hook', id::text, jsonb_build_object('reason', reason, 'hook_type', hook_type)
    from disabled order by id;
end $$;

create function parley_end_hooks_of_token() returns trigger language plpgsql as $$
begin
  perform parley_disable_hooks(array(select id from hooks where token_id = old.id),
    'the token that created it was revoked');
  return null;
end $$;
create trigger hooks_end_with_revoked_token after update of revoked_at on access_tokens
  for each row when (old.revoked_at is null and new.revoked_at is not null)
  execute function parley_end_hooks_of_token();
create trigger hooks_end_with_deleted_token after delete on access_tokens
  for each row when (old.type <> 'oauth') execute function parley_end_hooks_of_token();

create function parley_end_hooks_of_user() returns trigger language plpgsql as $$
begin
  if new.deactivated_at is not null then
    perform parley_disable_hooks(array(select id from hooks where created_by = new.id),
      'the account it belongs to was deactivated');
  elsif new.role = 'viewer' then
    perform parley_disable_hooks(array(select id from hooks where created_by = new.id),
      'the user it belongs to became a viewer');
  elsif new.role <> 'admin' then
    perform parley_disable_hooks(array(select id from hooks where created_by = new.id and scope = 'workspace'),
      'the user it belongs to is no longer an admin');
  end if;
  return null;
end $$;
create trigger hooks_end_with_user after update of deactivated_at, role on users
  for each row when (
    (old.deactivated_at is null and new.deactivated_at is not null) or old.role is distinct from new.role)
  execute function parley_end_hooks_of_user();

-- The sweep of expired access sets parley.expiring_access: it moves an app's hooks to other access that the app still has.
create function parley_end_hooks_of_family() returns trigger language plpgsql as $$
begin
  if current_setting('parley.expiring_access', true) is distinct from 'on' then
    perform parley_disable_hooks(array(select id from hooks where oauth_family_id = old.id),
      'the access of the app that created it was revoked');
  else
    update hooks set oauth_family_id = (
        select f.id from oauth_families f where f.grant_id = old.grant_id order by f.last_used_at desc, f.id limit 1)
      where oauth_family_id = old.id;
  end if;
  return null;
end $$;
create trigger hooks_end_with_family after delete on oauth_families
  for each row execute function parley_end_hooks_of_family();

create function parley_end_hooks_of_app() returns trigger language plpgsql as $$
begin
  perform parley_disable_hooks(array(select id from hooks where oauth_grant_id = old.id),
    case when current_setting('parley.expiring_access', true) = 'on'
      then 'the access of the app that created it expired'
      else 'the access of the app that created it was revoked' end);
  return null;
end $$;
create trigger hooks_end_with_grant after delete on oauth_grants
  for each row execute function parley_end_hooks_of_app();

-- ------------------------------------------------------------------------------------------------------------------
-- Deliveries of events to hooks
-- ------------------------------------------------------------------------------------------------------------------

-- One row per delivery, written only by server/webhooks/deliveries. Order of locks: events, deliveries, hooks.

-- No foreign keys, which would be checked for every row: adding deliveries locks the hook and the event instead, a trigger
-- deletes those of a deleted hook, and a deleted event is simply not joined.
-- Vacuum keeps emptied pages, because a table that looks empty gets plans that read it as a whole. Payloads of a few
-- kilobytes stay uncompressed, which is faster to write.
create table deliveries (
  -- In the order of events, for each hook.
  id bigint generated always as identity primary key,
  -- The header webhook-id: the same for every attempt.
  message_id uuid not null unique default gen_random_uuid(),
  hook_id uuid not null,
  -- Null: a test delivery, or the event was deleted.
  event_id bigint,
  event_type text not null,
  subject_id uuid not null,
  recording_id uuid,
  -- The transitions are in server/webhooks/deliveries/states.ts. exhausted: all attempts failed; gone: the receiver
  -- responded with 410; withheld: the hook's owner may no longer see the subject, or the subject was deleted.
  state text not null default 'pending'
    check (state in ('pending', 'delivered', 'exhausted', 'gone', 'withheld')),
  -- Rendered at the first attempt; every attempt sends the same bytes.
  payload text,
  attempts integer not null default 0,
  -- Attempts made before it was last resent by a user; the retry schedule counts from there.
  attempts_before integer not null default 0,
  due_at timestamptz(3) not null default now(),
  created_at timestamptz(3) not null default now(),
  settled_at timestamptz(3),
  -- The first attempt, which for most is the only one; delivery_attempts holds the others.
  first_at timestamptz(3),
  first_ms integer,
  -- Null: there was no response.
  first_status integer,
  first_error text,
  -- The first 20 kB of the response.
  first_response text,
  -- The header webhook-signature; the other headers follow from the webhook-id and the time.
  first_signature text
) with (toast_tuple_target = 8160, vacuum_truncate = false);
-- Consecutive ids touch fewer index pages than random ones; PostgreSQL has uuidv7 from version 18 on.
do $$ begin
  if to_regprocedure('uuidv7()') is not null then
    alter table deliveries alter column message_id set default uuidv7();
  end if;
end $$;
create index deliveries_due on deliveries (hook_id, due_at, id) where state = 'pending';
create index deliveries_hook on deliveries (hook_id, id);
-- The log's pages of rare states, among any number of delivered ones.
create index deliveries_rare on deliveries (hook_id, state, id) where state in ('exhausted', 'gone', 'withheld');
-- A hook's last attempt.
create index deliveries_settled on deliveries (hook_id, settled_at, id) where state not in ('pending', 'withheld');
create index deliveries_first on deliveries (hook_id, subject_id, event_id) where state = 'pending' and attempts = 0;
-- At most one delivery of an event to a hook.
create unique index deliveries_event on deliveries (event_id, hook_id);
-- Read once a minute; rows lie nearly in the order of time.
create index deliveries_old on deliveries using brin (created_at) with (autosummarize = on);

-- Requests and responses from the second attempt on, kept for thirty days.
create table delivery_attempts (
  delivery_id bigint not null references deliveries (id) on delete cascade,
  attempt integer not null,
  started_at timestamptz(3) not null,
  duration_ms integer not null,
  -- Null: there was no response.
  status integer,
  error text,
  -- The first 20 kB of the response.
  response text,
  request_headers jsonb not null,
  primary key (delivery_id, attempt)
);

-- The headers of an attempt that differ between attempts.
create function parley_request_headers(message_id uuid, signature text, started_at timestamptz) returns jsonb
  language sql immutable parallel safe
  return jsonb_build_object('webhook-id', message_id, 'webhook-signature', signature,
    'webhook-timestamp', floor(extract(epoch from started_at))::bigint::text);

-- All attempts, also the first ones.
create view attempts as
  select id as delivery_id, 1 as attempt, first_at as started_at, first_ms as duration_ms, first_status as status,
    first_error as error, first_response as response,
    parley_request_headers(message_id, first_signature, first_at) as request_headers
  from deliveries where first_at is not null
  union all
  select delivery_id, attempt, started_at, duration_ms, status, error, response, request_headers from delivery_attempts;

-- When the next delivery of a hook is, or was, due; null: none is pending.
create function parley_next_due(hook uuid) returns timestamptz language sql stable as $$
  select min(due_at) from deliveries where hook_id = hook and state = 'pending'
$$;

-- Ends a worker's lease of a hook. Two statements, so that the second sees what a fan-out that held the row has added
-- meanwhile: with one, a delivery could be left that no worker is notified of.
create function parley_release_hook(wanted uuid, worker uuid, not_before timestamptz) returns void
  language plpgsql volatile as $$
begin
  perform 1 from hooks where id = wanted and leased_by = worker for no key update;
  if not found then return; end if;
  update hooks set leased_by = null, leased_until = null, next_due_at = (
    select greatest(due, not_before) from parley_next_due(wanted) due where due is not null)
  where id = wanted;
end $$;

create function parley_hook_removed() returns trigger language plpgsql as $$
begin
  delete from deliveries where hook_id = old.id;
  return null;
end $$;
create trigger hook_removed after delete on hooks for each row execute function parley_hook_removed();

-- ------------------------------------------------------------------------------------------------------------------
-- Stored files
-- ------------------------------------------------------------------------------------------------------------------

-- Every file that belongs to a recording, with its size and checksum as written: comparing finds files that changed, shrank
-- or disappeared from the store.
create table stored_files (
  key text primary key,
  recording_id uuid not null references recordings (id) on delete cascade,
  -- The recording's workspace: the storage quota sums the bytes of a workspace.
  workspace_id uuid not null references workspaces (id),
  clip_id uuid references clips (id) on delete cascade,
  bytes bigint not null,
  sha256 bytea not null check (length(sha256) = 32),
  stored_at timestamptz not null default now(),
  checked_at timestamptz not null default now(),
  -- Null: it was intact at the last check. unreadable: the store lists it but can't read it, for instance because of a bad
  -- sector.
  damage text check (damage in ('missing', 'unreadable', 'size', 'content'))
);
create index stored_files_workspace on stored_files (workspace_id) include (bytes);
create index stored_files_recording on stored_files (recording_id);
create index stored_files_clip on stored_files (clip_id) where clip_id is not null;
create index stored_files_checked on stored_files (checked_at, key);
create index stored_files_damaged on stored_files (key) where damage is not null;

-- ------------------------------------------------------------------------------------------------------------------
-- The installation and its workers
-- ------------------------------------------------------------------------------------------------------------------

-- One row: the identity of this database. The object store has a copy (its owner marker), so that no database deletes the
-- files of another. A start with another store or another secret is refused instead of losing files or making data
-- unreadable.
create table installation (
  is_only boolean primary key default true check (is_only),
  id uuid not null default gen_random_uuid(),
  -- The last event when files were last swept. An owner marker ahead of it was written by a later state of this database.
  swept_event_id bigint not null default 0,
  store_id uuid,
  -- A fingerprint of the secret that the encrypted columns were written with.
  secret_fingerprint bytea
);
insert into installation default values;

-- Requests per token or IP address and minute, shared by all processes. Unlogged, because losing it costs nothing.
create unlogged table rate_limit_counters (
  key text not null,
  window_start timestamptz(0) not null,
  count integer not null,
  primary key (key, window_start)
);

-- The time at which a worker last read the clock. When the clock jumps ahead of it, nothing is deleted by age until an
-- operator confirms the new time, the clock is corrected, or as much time has really passed.
create table clock_guard (
  is_only boolean primary key default true check (is_only),
  seen_at timestamptz not null,
  -- The clock before and after the jump, and how much time has passed since; null while the clock is trusted.
  jumped_from timestamptz,
  jumped_to timestamptz,
  passed interval not null default '0',
  check ((jumped_from is null) = (jumped_to is null))
);

-- When a job of a user and of a workspace last started, by queue: the owner who has waited longest is next. A missing row
-- counts as "never", so old rows are simply deleted.
create table job_turns (
  queue text not null,
  -- `<workspace>/<user>` for a user, `<workspace>` for a workspace.
  owner text not null,
  started_at timestamptz not null,
  primary key (queue, owner)
);
create index job_turns_started on job_turns (started_at);

-- Idle workers stop polling and wait for a notification. NOTIFY makes the commits of a database wait for each other, so it
-- is sent only while a worker sleeps: a sleeping worker holds this lock exclusively, and a writer that gets it shared keeps
-- it until its commit, so no worker falls asleep between a writer's check and its commit.
create function parley_work_added() returns void language plpgsql as $$
begin
  if not pg_try_advisory_xact_lock_shared(7271539026) then
    perform pg_notify('parley_work', '');
  end if;
end $$;

create function parley_work_added_to_table() returns trigger language plpgsql as $$
begin
  perform parley_work_added();
  return null;
end $$;

create trigger work_added after insert on waiting_events
  for each statement execute function parley_work_added_to_table();
create trigger work_added after insert on audit_log
  for each statement execute function parley_work_added_to_table();
create trigger work_added after update of next_due_at on hooks
  for each statement execute function parley_work_added_to_table();
