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
-- changed; of teams, meeting types and sections, the later ones get a number.
do $$
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

  update section_templates t set title = t.title || ' (' || r.nth || ')'
    from (
      select id, row_number() over (
        partition by workspace_id, parley_lower(normalize(title, NFKC)) order by created_at, id) as nth
      from section_templates) r
    where r.id = t.id and r.nth > 1;
  update section_templates set title = title where title_key is distinct from parley_lower(normalize(title, NFKC));

  -- parley_fold follows the same rule now.
  update teams t set name = t.name || ' (' || r.nth || ')'
    from (
      select id, row_number() over (partition by workspace_id, parley_fold(name) order by created_at, id) as nth
      from teams) r
    where r.id = t.id and r.nth > 1;
  update teams set name = name where name_key is distinct from parley_fold(name);
  update meeting_types t set name = t.name || ' (' || r.nth || ')'
    from (
      select id, row_number() over (partition by workspace_id, parley_fold(name) order by position, id) as nth
      from meeting_types) r
    where r.id = t.id and r.nth > 1;
  update meeting_types set name = name where name_key is distinct from parley_fold(name);
  update recordings set title = title where title_key is distinct from left(parley_fold(title), 600);
  update recording_grants g set title_key = r.title_key
    from recordings r where r.id = g.recording_id and g.title_key is distinct from r.title_key;
end $$;
