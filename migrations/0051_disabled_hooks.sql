-- Disabling a hook leaves its lease alone: what is in flight ends within the lease, and nothing more is sent once the hook is
-- found disabled.
create or replace function parley_disable_hooks(ids uuid[], reason text) returns void language plpgsql as $$
begin
  -- Locks in the order of ids, as everywhere, so that two transactions never wait for each other.
  perform 1 from hooks where id = any(ids) and disabled_at is null order by id for no key update;
  with disabled as (
    update hooks set disabled_at = now(), disabled_reason = reason
      where id = any(ids) and disabled_at is null
      returning id, workspace_id, hook_type
  )
  insert into audit_log (workspace_id, action, subject_type, subject_id, details)
    select workspace_id, 'hook_disabled', 'hook', id::text, jsonb_build_object('reason', reason, 'hook_type', hook_type)
    from disabled order by id;
end $$;
