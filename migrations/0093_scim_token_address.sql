-- From where a SCIM token was last used, so that the preview of allowed IP addresses can list those outside.
alter table scim_tokens add column last_ip text;
