-- outside a transaction
-- The System page lists the latest failed uploads.
drop index concurrently if exists uploads_failed;
-- next
create index concurrently uploads_failed on uploads (updated_at) where status = 'failure';
