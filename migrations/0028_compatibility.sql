-- Names of the original service that responses to a token also use. Null: as the setting PARLEY_COMPAT says.
alter table access_tokens add column compatibility text check (compatibility in ('none', 'hubspot'));
-- For the tokens of the app.
alter table oauth_clients add column compatibility text check (compatibility in ('none', 'hubspot'));
