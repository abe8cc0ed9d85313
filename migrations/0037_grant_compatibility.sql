-- What the user chose for an app that registered itself, which no admin can configure. Null for other apps, which follow
-- oauth_clients, and for access granted before the choice existed, which follows PARLEY_DATETIME_FILTERS and PARLEY_COMPAT.
alter table oauth_grants
  add column datetime_filters text check (datetime_filters in ('contract', 'by-name')),
  add column compatibility text check (compatibility in ('none', 'hubspot'));
