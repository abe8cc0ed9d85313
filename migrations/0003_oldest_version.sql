-- Versions that can run on the same database.

alter table installation
  -- The oldest version of the program that may use this database; null: no older one is refused.
  add column oldest_version text;
