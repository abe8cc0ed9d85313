-- The language a user reads Parley in; null: the browser's.
alter table users add column language text check (language ~ '^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$');
