-- Rotation of PARLEY_SECRET. `secret_fingerprint` is of the oldest secret that stored values may be encrypted with; these
-- are of those that came after it, in their order.
alter table installation add column newer_secret_fingerprints bytea[] not null default '{}';
-- Counts changes of the generated secret, which processes then read again.
alter table installation add column secret_version integer not null default 0;
-- The keys of links that never expire, encrypted with PARLEY_SECRET, so that they outlive it. Null: it was never rotated, and
-- they are derived from it.
alter table installation add column link_keys bytea;
-- The ids of the secrets that a process has; the first encrypts. Null: its version can't rotate.
alter table processes add column secret_ids text[];
