import { t } from "@lingui/core/macro";
import type { DiscardableJob, JobKind } from "../../../contract/job-kinds.ts";

/** Names of the kinds of jobs: a verb and a noun. */
const names: { readonly [Kind in JobKind]: () => string } = {
  request_access: () => t`Request access`,
  send_mail: () => t`Send email`,
  send_delivery_email: () => t`Send delivery by email`,
  email_notifications: () => t`Email notifications`,
  request_password_reset: () => t`Reset password`,
  import_connection_event: () => t`Import from a connection`,
  fetch_import: () => t`Fetch import`,
  import_recordings: () => t`Import recordings`,
  render_companions: () => t`Create thumbnail and waveform`,
  analyze_recording: () => t`Summarize`,
  match_meeting: () => t`Find meeting`,
  render_clip: () => t`Render clip`,
  erase_personal_data: () => t`Erase personal data`,
  install_model: () => t`Install model`,
  transcribe_recording: () => t`Transcribe`,
  promote_media: () => t`Process media`,
  promote_upload: () => t`Publish transcript`,
  validate_upload: () => t`Check uploaded file`,
  join_upload_parts: () => t`Assemble uploaded file`,
  rotate_secrets: () => t`Encrypt with the new secret`,
  delete_old_access_requests: () => t`Delete old access requests`,
  delete_old_notifications: () => t`Delete old notifications`,
  enqueue_due_emails: () => t`Enqueue due emails`,
  delete_old_mail_counts: () => t`Delete old mail counts`,
  delete_dead_links: () => t`Delete dead links`,
  delete_ended_sessions: () => t`Delete ended sessions`,
  delete_old_devices: () => t`Delete old devices`,
  delete_used_challenges: () => t`Delete used challenges`,
  delete_old_sign_in_failures: () => t`Delete old sign-in failures`,
  delete_ended_tokens: () => t`Delete ended tokens`,
  anchor_audit_log: () => t`Anchor audit log`,
  run_scheduled_backup: () => t`Run scheduled backup`,
  warn_of_overdue_backups: () => t`Warn of overdue backups`,
  notify_admins: () => t`Notify admins`,
  read_calendars: () => t`Read calendars`,
  delete_old_connection_events: () => t`Delete old connection events`,
  continue_connection_events: () => t`Continue connection events`,
  continue_imports: () => t`Continue imports`,
  check_files: () => t`Check files`,
  enqueue_due_analyses: () => t`Enqueue due analyses`,
  try_language_models: () => t`Try language models`,
  delete_old_usage: () => t`Delete old usage`,
  delete_old_threads: () => t`Delete old threads`,
  delete_ended_oauth_grants: () => t`Delete ended OAuth grants`,
  delete_old_rate_limit_counters: () => t`Delete old rate limit counters`,
  correct_future_times: () => t`Correct future times`,
  delete_old_job_turns: () => t`Delete old job turns`,
  reconcile_clips: () => t`Reconcile clips`,
  prune_audit_log: () => t`Prune audit log`,
  apply_retention_rules: () => t`Apply retention rules`,
  remove_orphaned_files: () => t`Remove orphaned files`,
  enqueue_due_transcriptions: () => t`Enqueue due transcriptions`,
  delete_old_voices: () => t`Delete old voices`,
  empty_trash: () => t`Empty trash`,
  end_uploads_of_deactivated: () => t`End uploads of deactivated users`,
  delete_stale_uploads: () => t`Delete stale uploads`,
  fail_expired_media: () => t`Fail expired media`,
  fail_stuck_uploads: () => t`Fail stuck uploads`,
  retry_stuck_uploads: () => t`Retry stuck uploads`,
  remove_transcript_copies: () => t`Remove transcript copies`,
  correct_future_upload_checks: () => t`Correct future upload checks`,
  fail_expired_uploads: () => t`Fail expired uploads`,
  disable_expired_hooks: () => t`Disable expired hooks`,
  correct_future_deliveries: () => t`Correct future deliveries`,
  delete_old_history: () => t`Delete old history`,
  find_forgotten_hooks: () => t`Find forgotten hooks`,
  forget_deleted_recordings: () => t`Forget deleted recordings`,
  remove_left_notes: () => t`Remove left notes`,
};

/** What discarding a failed job loses, by kinds whose jobs can be discarded. */
const losses: { readonly [Kind in DiscardableJob]: () => string } = {
  request_access: () => t`The request is lost. The user can request access again.`,
  send_mail: () => t`The email is not sent.`,
  send_delivery_email: () => t`The email is not sent.`,
  email_notifications: () =>
    t`The emails are sent within a minute, unless a day has passed. The app has the notifications.`,
  request_password_reset: () => t`The email is not sent. The user can request another one.`,
  import_connection_event: () => t`The event fails. It can be retried in Settings → Connections.`,
  fetch_import: () => t`The upload fails and its file is deleted. It can be sent again.`,
  import_recordings: () => t`The import is canceled. What was imported stays.`,
  render_companions: () => t`The recording stays. What is missing can be requested again.`,
  analyze_recording: () => t`The recording stays. What is missing can be requested again.`,
  match_meeting: () => t`The recording stays. Its meeting can be chosen on its page.`,
  render_clip: () => t`The clip fails. Links to it can't play it.`,
  transcribe_recording: () => t`The recording stays. What is missing can be requested again.`,
  promote_media: () => t`The upload fails and its file is deleted. It can be sent again.`,
  promote_upload: () => t`The upload fails and its file is deleted. It can be sent again.`,
  validate_upload: () => t`The upload fails and its file is deleted. It can be sent again.`,
  join_upload_parts: () => t`The upload fails and its file is deleted. It can be sent again.`,
};

/** The name of a kind of job; null for one that the app doesn't know. */
export function jobName(kind: string): string | null {
  return Object.hasOwn(names, kind) ? names[kind as JobKind]() : null;
}

/** What discarding a job of a kind loses; null for one that the app doesn't know. */
export function jobLoss(kind: string): string | null {
  return Object.hasOwn(losses, kind) ? losses[kind as DiscardableJob]() : null;
}
