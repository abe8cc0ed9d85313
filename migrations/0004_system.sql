-- The System page: the processes of the installation, and who may see them.

-- The processes of this installation, each with the time of its last heartbeat. Unlogged, because losing it costs nothing:
-- the next heartbeat adds the row again.
create unlogged table processes (
  id uuid primary key,
  role text not null check (role in ('all', 'api', 'worker')),
  host text not null,
  pid integer not null,
  version text not null,
  started_at timestamptz(3) not null,
  heartbeat_at timestamptz(3) not null
);

-- The workspace whose admins see the state of the whole installation; null: no workspace's.
alter table installation add column operator_workspace_id uuid references workspaces (id) on delete set null;
update installation set operator_workspace_id = (select min(id::text)::uuid from workspaces having count(*) = 1);
