-- The language that the language model writes in where nobody chose one for the recording; null: the meeting's.
alter table intelligence_settings add column language text check (length(language) between 1 and 35);
