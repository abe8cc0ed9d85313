-- The audit log as a chain: each entry of a workspace gets a place and a hash over itself and the entry before it.
-- Entries are written without either, so that no transaction waits for another one; a worker seals them a moment later,
-- in the order in which it finds them committed (server/audit/seal.ts). docs/decisions/0015-audit-log.md says why.

alter table audit_log
  -- Both null: not sealed yet. Places of a workspace run 1, 2, 3… without a gap.
  add column position bigint,
  add column hash bytea,
  -- The chain covers SHA-256(salt || value) of what may have to be erased, so that value and salt can go and the chain
  -- still holds. Once they are gone, that hash is kept in their stead.
  add column who_salt bytea default uuid_send(gen_random_uuid()),
  add column who_hash bytea,
  add column details_salt bytea default uuid_send(gen_random_uuid()),
  add column details_hash bytea,
  add constraint audit_log_sealed check ((position is null) = (hash is null)),
  add constraint audit_log_who check (
    (who_salt is null) = (who_hash is not null)
    and (who_salt is not null or (user_email is null and ip is null and user_agent is null))),
  add constraint audit_log_details check (
    (details_salt is null) = (details_hash is not null) and (details_salt is not null or details = '{}'));

-- What the list is ordered and filtered by.
drop index audit_log_workspace;
create index audit_log_time on audit_log (workspace_id, occurred_at, id);
create index audit_log_action on audit_log (workspace_id, action, occurred_at, id);
create index audit_log_user on audit_log (workspace_id, user_id, occurred_at, id);
create index audit_log_subject on audit_log (workspace_id, subject_id, occurred_at, id);
create unique index audit_log_position on audit_log (workspace_id, position) where position is not null;
create index audit_log_unsealed on audit_log (id) where position is null;

-- Where the chain of each workspace begins and ends.
create table audit_chains (
  workspace_id uuid primary key references workspaces (id),
  -- The last entry that was removed because of its age, and its hash, from which the chain goes on.
  anchor_position bigint not null,
  anchor_hash bytea not null,
  -- The last entry.
  head_position bigint not null,
  head_hash bytea not null,
  -- Up to where the object store has been told (server/audit/mark.ts).
  marked_position bigint not null default 0
);

-- Mistakes and curious programs can't change the log. Who owns the database can switch these off: that is what the
-- hashes are for.
create function parley_audit_guard() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if exists (select 1 from audit_chains c where c.workspace_id = old.workspace_id and c.anchor_position >= old.position)
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

-- The beginning moves forward only, to an entry that is there; the end never goes back.
create function parley_audit_chain_guard() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.workspace_id = old.workspace_id and new.head_position >= old.head_position
    and ((new.anchor_position, new.anchor_hash) is not distinct from (old.anchor_position, old.anchor_hash)
      or (new.anchor_position > old.anchor_position and exists (select 1 from audit_log l
        where l.workspace_id = new.workspace_id and l.position = new.anchor_position and l.hash = new.anchor_hash)))
  then return new; end if;
  raise exception 'the audit log is append-only: its chain can''t be cut';
end $$;
create trigger audit_chains_guard before update or delete on audit_chains
  for each row execute function parley_audit_chain_guard();
create trigger audit_chains_guard_truncate before truncate on audit_chains
  for each statement execute function parley_audit_chain_guard();
