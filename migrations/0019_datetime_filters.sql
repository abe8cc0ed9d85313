-- How before_datetime and after_datetime of requests with a token are read. Null: as the setting PARLEY_DATETIME_FILTERS says,
-- for tokens and apps created before the choice existed.
alter table access_tokens add column datetime_filters text check (datetime_filters in ('contract', 'by-name'));
-- For the tokens of the app.
alter table oauth_clients add column datetime_filters text check (datetime_filters in ('contract', 'by-name'));
