-- function parley_disable_hooks(uuid[],text)
CREATE OR REPLACE FUNCTION public.parley_disable_hooks(ids uuid[], reason text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
end $function$;

-- function parley_end_hooks_of_app()
CREATE OR REPLACE FUNCTION public.parley_end_hooks_of_app()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform parley_disable_hooks(array(select id from hooks where oauth_grant_id = old.id),
    case when current_setting('parley.expiring_access', true) = 'on'
      then 'the access of the app that created it expired'
      else 'the access of the app that created it was revoked' end);
  return null;
end $function$;

-- function parley_end_hooks_of_family()
CREATE OR REPLACE FUNCTION public.parley_end_hooks_of_family()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;

-- function parley_end_hooks_of_token()
CREATE OR REPLACE FUNCTION public.parley_end_hooks_of_token()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform parley_disable_hooks(array(select id from hooks where token_id = old.id),
    'the token that created it was revoked');
  return null;
end $function$;

-- function parley_end_hooks_of_user()
CREATE OR REPLACE FUNCTION public.parley_end_hooks_of_user()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;

-- function parley_events_added()
CREATE OR REPLACE FUNCTION public.parley_events_added()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into waiting_events select id from added;
  return null;
end $function$;

-- function parley_events_removed()
CREATE OR REPLACE FUNCTION public.parley_events_removed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from feed_positions where event_id in (select id from removed);
  return null;
end $function$;

-- function parley_hook_removed()
CREATE OR REPLACE FUNCTION public.parley_hook_removed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from deliveries where hook_id = old.id;
  return null;
end $function$;

-- function parley_next_due(uuid)
CREATE OR REPLACE FUNCTION public.parley_next_due(hook uuid)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
AS $function$
  select min(due_at) from deliveries where hook_id = hook and state = 'pending'
$function$;

-- function parley_release_hook(uuid,uuid,timestamp with time zone)
CREATE OR REPLACE FUNCTION public.parley_release_hook(wanted uuid, worker uuid, not_before timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  perform 1 from hooks where id = wanted and leased_by = worker for no key update;
  if not found then return; end if;
  update hooks set leased_by = null, leased_until = null, next_due_at = (
    select greatest(due, not_before) from parley_next_due(wanted) due where due is not null)
  where id = wanted;
end $function$;

-- function parley_request_headers(uuid,text,timestamp with time zone)
CREATE OR REPLACE FUNCTION public.parley_request_headers(message_id uuid, signature text, started_at timestamp with time zone)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN jsonb_build_object('webhook-id', message_id, 'webhook-signature', signature, 'webhook-timestamp', ((floor(EXTRACT(epoch FROM started_at)))::bigint)::text);

-- trigger events_added on events
CREATE TRIGGER events_added AFTER INSERT ON public.events REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION parley_events_added();

-- trigger events_removed on events
CREATE TRIGGER events_removed AFTER DELETE ON public.events REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION parley_events_removed();

-- trigger hook_removed on hooks
CREATE TRIGGER hook_removed AFTER DELETE ON public.hooks FOR EACH ROW EXECUTE FUNCTION parley_hook_removed();

-- trigger hooks_end_with_deleted_token on access_tokens
CREATE TRIGGER hooks_end_with_deleted_token AFTER DELETE ON public.access_tokens FOR EACH ROW WHEN ((old.type <> 'oauth'::text)) EXECUTE FUNCTION parley_end_hooks_of_token();

-- trigger hooks_end_with_family on oauth_families
CREATE TRIGGER hooks_end_with_family AFTER DELETE ON public.oauth_families FOR EACH ROW EXECUTE FUNCTION parley_end_hooks_of_family();

-- trigger hooks_end_with_grant on oauth_grants
CREATE TRIGGER hooks_end_with_grant AFTER DELETE ON public.oauth_grants FOR EACH ROW EXECUTE FUNCTION parley_end_hooks_of_app();

-- trigger hooks_end_with_revoked_token on access_tokens
CREATE TRIGGER hooks_end_with_revoked_token AFTER UPDATE OF revoked_at ON public.access_tokens FOR EACH ROW WHEN (((old.revoked_at IS NULL) AND (new.revoked_at IS NOT NULL))) EXECUTE FUNCTION parley_end_hooks_of_token();

-- trigger hooks_end_with_user on users
CREATE TRIGGER hooks_end_with_user AFTER UPDATE OF deactivated_at, role ON public.users FOR EACH ROW WHEN ((((old.deactivated_at IS NULL) AND (new.deactivated_at IS NOT NULL)) OR (old.role IS DISTINCT FROM new.role))) EXECUTE FUNCTION parley_end_hooks_of_user();
