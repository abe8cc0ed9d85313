-- Users cancel transcriptions.

alter table transcriptions
  -- When a user canceled it; its status is then failed, and failure_cause is user.
  add column canceled_at timestamptz,
  -- Who canceled it; null: a workspace token.
  add column canceled_by uuid references users (id) on delete set null;
