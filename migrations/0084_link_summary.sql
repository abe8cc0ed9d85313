-- Whether visitors of a recording's public link also see its summary and chapters.
alter table public_links add column include_summary boolean not null default false
  check (not include_summary or kind = 'recording');
