-- How far a run of the language model is, in percent.
alter table intelligence_runs add column progress integer not null default 0 check (progress between 0 and 100);
-- What a running transcription waits for, for users to read; null: it works.
alter table transcriptions add column waits_for text;
