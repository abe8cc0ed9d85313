-- outside a transaction
-- Failed transcriptions of the last days are listed on the System page.
drop index concurrently if exists transcriptions_failed;
-- next
create index concurrently transcriptions_failed on transcriptions (updated_at) where status = 'failed';
