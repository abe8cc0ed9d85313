-- The language of the browser that a user last opened the app with; emails are in it unless the user has chosen one.
alter table users add column browser_language text check (browser_language ~ '^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$');
alter table users add column email_language text generated always as (coalesce(language, browser_language)) stored;
