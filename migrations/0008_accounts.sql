-- Sign-in, OAuth 2.0, one-time links, and the log of who did what.

alter table users drop constraint users_role_check;
alter table users add constraint users_role_check check (role in ('admin', 'member', 'viewer'));
