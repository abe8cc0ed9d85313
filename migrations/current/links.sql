-- function parley_end_links_of_token()
CREATE OR REPLACE FUNCTION public.parley_end_links_of_token()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update one_time_links set hash = sha256(uuid_send(gen_random_uuid()))
    where created_by_token_id = old.id and used_at is null;
  return null;
end $function$;

-- function parley_end_links_of_user()
CREATE OR REPLACE FUNCTION public.parley_end_links_of_user()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update one_time_links set hash = sha256(uuid_send(gen_random_uuid()))
    where created_by = new.id and used_at is null;
  return null;
end $function$;

-- function parley_share_state_links()
CREATE OR REPLACE FUNCTION public.parley_share_state_links()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.share_state = 'public' then
    insert into public_links (workspace_id, kind, recording_id) values (new.workspace_id, 'recording', new.id);
  else
    delete from public_links where recording_id = new.id;
  end if;
  return null;
end $function$;

-- trigger links_end_with_admin on users
CREATE TRIGGER links_end_with_admin AFTER UPDATE OF deactivated_at, role ON public.users FOR EACH ROW WHEN ((((old.deactivated_at IS NULL) AND (new.deactivated_at IS NOT NULL)) OR ((old.role = 'admin'::text) AND (new.role <> 'admin'::text)))) EXECUTE FUNCTION parley_end_links_of_user();

-- trigger links_end_with_deleted_token on access_tokens
CREATE TRIGGER links_end_with_deleted_token AFTER DELETE ON public.access_tokens FOR EACH ROW WHEN ((old.type <> 'oauth'::text)) EXECUTE FUNCTION parley_end_links_of_token();

-- trigger links_end_with_revoked_token on access_tokens
CREATE TRIGGER links_end_with_revoked_token AFTER UPDATE OF revoked_at ON public.access_tokens FOR EACH ROW WHEN (((old.revoked_at IS NULL) AND (new.revoked_at IS NOT NULL))) EXECUTE FUNCTION parley_end_links_of_token();

-- trigger recordings_become_public on recordings
CREATE TRIGGER recordings_become_public AFTER INSERT ON public.recordings FOR EACH ROW WHEN ((new.share_state = 'public'::text)) EXECUTE FUNCTION parley_share_state_links();

-- trigger recordings_change_share_state on recordings
CREATE TRIGGER recordings_change_share_state AFTER UPDATE OF share_state ON public.recordings FOR EACH ROW WHEN (((old.share_state = 'public'::text) IS DISTINCT FROM (new.share_state = 'public'::text))) EXECUTE FUNCTION parley_share_state_links();
