-- The identity that began a session of single sign-on, so that its provider can end the session; null: another way to sign
-- in, or a session from before. `sign_in_sid` is the provider's name of its own session.
alter table sessions
  add column sign_in_issuer text,
  add column sign_in_subject text,
  add column sign_in_sid text;
create index sessions_of_identity on sessions (sign_in_issuer, sign_in_subject) where sign_in_issuer is not null;

-- Logout tokens of providers: each is accepted once.
create table used_logout_tokens (
  hash bytea primary key,
  expires_at timestamptz(3) not null
);
create index used_logout_tokens_by_time on used_logout_tokens (expires_at);

-- The role that a group at the provider gave; null: none did.
alter table identities add column mapped_role text check (mapped_role in ('viewer', 'member', 'admin'));

-- Members whom a group at a provider brought into a team, and who leave it with the group. Members without a row here were
-- added by hand and stay.
create table mapped_team_members (
  team_id uuid not null references teams (id) on delete cascade,
  user_id uuid not null,
  issuer text not null,
  primary key (team_id, user_id, issuer),
  foreign key (team_id, user_id) references team_members (team_id, user_id) on delete cascade
);
create index mapped_team_members_of_user on mapped_team_members (user_id);
