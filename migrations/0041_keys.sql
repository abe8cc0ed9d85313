-- Emails and titles of sections are compared by parley_lower (0039) instead of lower(), which depends on the locale of the
-- database: in a Turkish one, IREM@EXAMPLE.COM was not irem@example.com. A column's expression can't be changed before
-- PostgreSQL 17, so triggers write these keys.
alter table users alter column email_key drop expression, alter column email_key set default '';
alter table participants alter column email_key drop expression;
alter table section_templates alter column title_key drop expression, alter column title_key set default '';

create or replace function parley_set_email_key() returns trigger language plpgsql as $$
begin
  new.email_key := parley_lower(new.email);
  return new;
end $$;
create trigger email_key before insert or update of email on users
  for each row execute function parley_set_email_key();
create trigger email_key before insert or update of email on participants
  for each row execute function parley_set_email_key();

create or replace function parley_set_title_key() returns trigger language plpgsql as $$
begin
  new.title_key := parley_lower(normalize(new.title, NFKC));
  return new;
end $$;
create trigger title_key before insert or update of title on section_templates
  for each row execute function parley_set_title_key();

-- Where lower() has another rule, what is stored is corrected. Nothing is deleted where two rows get the same key:
-- of accounts, the one that was used last keeps the email, and the other one is found by it again once its email is
-- changed; of teams, meeting types and sections, the later ones get the lowest number that is free.
do $$
declare
  kind record;
  twin record;
begin
  if lower('IRİΣÌÍĨ ΑΣ') = parley_lower('IRİΣÌÍĨ ΑΣ') then return; end if;

  update users u set email_key = r.key || ' ' || u.id
    from (
      select id, parley_lower(email) as key, row_number() over (
        partition by parley_lower(email)
        order by deactivated_at is not null, last_signed_in_at desc nulls last, created_at, id) as nth
      from users) r
    where r.id = u.id and r.nth > 1;
  update users set email_key = parley_lower(email)
    where email_key is distinct from parley_lower(email) and email_key is distinct from parley_lower(email) || ' ' || id;
  update participants set email_key = parley_lower(email) where email_key is distinct from parley_lower(email);

  for kind in select * from (values
    ('section_templates', 'title', 'parley_lower(normalize(%s, NFKC))', 'created_at'),
    ('teams', 'name', 'parley_fold(%s)', 'created_at'),
    ('meeting_types', 'name', 'parley_fold(%s)', 'position')
  ) as kinds ("table", name, key, "order") loop
    for twin in execute format(
      'select id, workspace_id, name from (
        select id, workspace_id, %2$I as name, row_number() over (
          partition by workspace_id, ' || format(kind.key, kind.name) || ' order by %3$I, id) as nth
        from %1$I) numbered where nth > 1 order by nth, id', kind."table", kind.name, kind."order") loop
      execute format(
        'update %1$I set %2$I = $1 || '' ('' || (
          select number from generate_series(2, 1000000) number where not exists (
            select 1 from %1$I other where other.workspace_id = $2
              and ' || format(kind.key, 'other.' || kind.name) || ' = ' || format(kind.key, '$1 || '' ('' || number || '')''') || ')
          order by number limit 1) || '')'' where id = $3', kind."table", kind.name)
        using twin.name, twin.workspace_id, twin.id;
    end loop;
  end loop;
  update section_templates set title = title where title_key is distinct from parley_lower(normalize(title, NFKC));

  -- parley_fold follows the same rule now.
  update teams set name = name where name_key is distinct from parley_fold(name);
  update meeting_types set name = name where name_key is distinct from parley_fold(name);
  update recordings set title = title where title_key is distinct from left(parley_fold(title), 600);
  update recording_grants g set title_key = r.title_key
    from recordings r where r.id = g.recording_id and g.title_key is distinct from r.title_key;
end $$;
