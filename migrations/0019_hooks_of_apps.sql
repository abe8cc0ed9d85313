-- A hook that an app made in the name of the person who let it in ends with the access of the app.

alter table hooks add column oauth_grant_id uuid;
create index hooks_grant on hooks (oauth_grant_id) where oauth_grant_id is not null;

-- However a grant ends: the person or an admin takes it back, the app or the account goes, or a stolen token is noticed.
-- Tidying up grants that nobody has used for long says so (parley.tidying), and ends no hooks.
create function parley_end_hooks_of_app() returns trigger language plpgsql as $$
begin
  if current_setting('parley.tidying', true) is distinct from 'on' then
    update hooks set disabled_at = now(), disabled_reason = 'the access of the app that made it was taken back',
        -- As when a person switches it off: whoever sends to it now begins nothing more.
        leased_by = null, leased_until = case when leased_until > now() then now() + interval '10 s' end
      where oauth_grant_id = old.id and disabled_at is null;
  end if;
  return null;
end $$;
create trigger hooks_end_with_grant after delete on oauth_grants
  for each row execute function parley_end_hooks_of_app();
