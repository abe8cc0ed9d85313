-- Moving files to another store, and the database to another server.

alter table installation
  -- The store that has the files since they were migrated; null: the settings say it.
  add column store_kind text check (store_kind in ('local', 's3')),
  -- Grows whenever the stores in use change. Processes show by it which ones they use.
  add column store_step integer not null default 0,
  -- The same in both databases of a move.
  add column move_id uuid,
  -- Where this database was moved to, without password; null: it is in use. Nothing may write to it any more.
  add column moved_to text,
  add column moved_at timestamptz(3),
  -- This database is a copy whose move is not complete: it must not be used yet.
  add column arriving_since timestamptz(3);

-- A migration of files, as long as the source has any.
create table store_migration (
  id boolean primary key default true check (id),
  source text not null check (source in ('local', 's3')),
  target text not null check (target in ('local', 's3') and target <> source),
  -- Ids of the stores, as their owner markers name them.
  source_store uuid not null,
  target_store uuid not null,
  -- `preparing`: files are written to the source, and read from both; afterwards they are written to the target.
  -- `removing`: the source has lost files, and perhaps its owner marker.
  state text not null default 'preparing' check (state in ('preparing', 'copying', 'copied', 'removing')),
  -- All keys up to this one are copied and verified.
  copied_through text,
  files bigint not null default 0,
  bytes bigint not null default 0,
  started_at timestamptz(3) not null default now(),
  -- Since when no process writes to the source or creates URLs of it.
  switched_at timestamptz(3)
);

-- Refuses all changes of a database that was moved, also those of processes that do not know it yet. The code is that of a
-- database that does not accept connections, so that clients retry.
create function parley_refuse_moved() returns trigger language plpgsql as $$
begin
  raise exception 'this database was moved to another server' using errcode = '57P03';
end
$$;
