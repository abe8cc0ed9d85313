-- Language models that are installed from a file of the server's machine.

alter table model_installs
  -- Of the file; null: the model is downloaded.
  add column path text,
  -- Of all files; null: not known yet.
  add column bytes_total bigint;
