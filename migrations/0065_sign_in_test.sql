-- Issuer, client and client secret with which an admin's whole sign-in succeeded last, encrypted.
alter table installation add column sign_in_test_passed bytea;
