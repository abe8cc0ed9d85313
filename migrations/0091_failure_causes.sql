-- Why an upload failed, as codes with values, beside the English sentence; null for uploads that failed before.
alter table uploads add column failure_causes jsonb;
