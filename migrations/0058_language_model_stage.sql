-- What a run of the language model does now, shown to users: the step it is at, how far it is with it, or what it waits for.
alter table intelligence_runs add column stage text;
