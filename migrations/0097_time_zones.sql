-- The time zone that a user has chosen, and that of the browser they last used the app with: emails write times in it.
alter table users add column time_zone text check (time_zone ~ '^[A-Za-z0-9_+/-]{1,100}$');
alter table users add column browser_time_zone text check (browser_time_zone ~ '^[A-Za-z0-9_+/-]{1,100}$');
alter table users add column email_time_zone text generated always as (coalesce(time_zone, browser_time_zone)) stored;
