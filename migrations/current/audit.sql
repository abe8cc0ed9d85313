-- function parley_audit_chain_guard()
CREATE OR REPLACE FUNCTION public.parley_audit_chain_guard()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'UPDATE' and new.workspace_id = old.workspace_id and new.head_position >= old.head_position
    and ((new.pruned_position, new.pruned_hash) is not distinct from (old.pruned_position, old.pruned_hash)
      or (new.pruned_position > old.pruned_position and exists (select 1 from audit_log l
        where l.workspace_id = new.workspace_id and l.position = new.pruned_position and l.hash = new.pruned_hash)))
  then return new; end if;
  raise exception 'the audit log is append-only: its chain can''t be cut';
end $function$;

-- function parley_audit_guard()
CREATE OR REPLACE FUNCTION public.parley_audit_guard()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;

-- trigger audit_chains_guard on audit_chains
CREATE TRIGGER audit_chains_guard BEFORE DELETE OR UPDATE ON public.audit_chains FOR EACH ROW EXECUTE FUNCTION parley_audit_chain_guard();

-- trigger audit_chains_guard_truncate on audit_chains
CREATE TRIGGER audit_chains_guard_truncate BEFORE TRUNCATE ON public.audit_chains FOR EACH STATEMENT EXECUTE FUNCTION parley_audit_chain_guard();

-- trigger audit_log_guard on audit_log
CREATE TRIGGER audit_log_guard BEFORE DELETE OR UPDATE ON public.audit_log FOR EACH ROW EXECUTE FUNCTION parley_audit_guard();

-- trigger audit_log_guard_truncate on audit_log
CREATE TRIGGER audit_log_guard_truncate BEFORE TRUNCATE ON public.audit_log FOR EACH STATEMENT EXECUTE FUNCTION parley_audit_guard();

-- trigger work_added on audit_log
CREATE TRIGGER work_added AFTER INSERT ON public.audit_log FOR EACH STATEMENT EXECUTE FUNCTION parley_work_added_to_table();
