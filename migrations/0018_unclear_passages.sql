-- Passages in which nobody speaks clearly are left out of transcripts, and counted.

alter table transcriptions
  add column unclear_passages integer not null default 0;
