-- Downloads of speech models that admins asked for.

create table model_installs (
  id uuid primary key,
  -- Of the model in the catalogue.
  name text not null unique,
  status text not null default 'pending' check (status in ('pending', 'running', 'done', 'failed')),
  bytes_done bigint not null default 0,
  -- Why it failed, shown to admins.
  error text,
  updated_at timestamptz(3) not null default now()
);
