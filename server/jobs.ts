import { matchMeetingKind } from "./connections/calendars/match/match.ts";
import { readCalendarsKind } from "./connections/calendars/refresh.ts";
import { sendDeliveryEmailKind } from "./connections/deliveries/email-job.ts";
import { removeLeftFilesKind } from "./connections/deliveries/files.ts";
import { forgetDeletedRecordingsKind } from "./connections/deliveries/queries.ts";
import { deleteOldConnectionEventsKind } from "./connections/imports/connect/events.ts";
import {
  continueConnectionEventsKind,
  importConnectionEventKind,
} from "./connections/imports/connect/job.ts";
import { fetchImportKind } from "./connections/imports/fetch.ts";
import { continueImportsKind, importRecordingsKind } from "./connections/imports/runs/job.ts";
import { disableExpiredHooksKind } from "./connections/webhooks/api/access.ts";
import {
  correctFutureDeliveriesKind,
  deleteOldHistoryKind,
} from "./connections/webhooks/deliveries/history.ts";
import { findForgottenHooksKind } from "./connections/webhooks/deliveries/leases.ts";
import { anchorAuditLogKind } from "./governance/audit/anchor.ts";
import { erasePersonalDataKind } from "./governance/retention/erasure/erase-user.ts";
import { pruneAuditLogKind } from "./governance/retention/prune.ts";
import { applyRetentionRulesKind } from "./governance/retention/sweep.ts";
import { runScheduledBackupKind, warnOfOverdueBackupsKind } from "./operations/backup/schedule.ts";
import { removeOrphanedFilesKind } from "./operations/storage-maintenance/remove-orphans.ts";
import { notifyAdminsKind } from "./operations/system/notify-admins.ts";
import { rotateSecretsKind } from "./operations/system/secrets/rotate.ts";
import { deleteOldMailCountsKind } from "./people/accounts/one-time-links/mail-limits.ts";
import { sendMailKind } from "./people/accounts/one-time-links/mailer.ts";
import { deleteDeadLinksKind } from "./people/accounts/one-time-links/one-time-links.ts";
import { requestPasswordResetKind } from "./people/accounts/one-time-links/password-reset.ts";
import { deleteUsedChallengesKind } from "./people/accounts/passkeys/ceremony.ts";
import { deleteOldDevicesKind } from "./people/accounts/sign-in/devices.ts";
import { deleteEndedSessionsKind } from "./people/accounts/sign-in/sessions.ts";
import { deleteOldSignInFailuresKind } from "./people/accounts/sign-in/throttle.ts";
import { deleteEndedTokensKind } from "./people/accounts/tokens/sweep.ts";
import { deleteEndedOauthGrantsKind } from "./people/oauth/sweep.ts";
import { deleteOldRateLimitCountersKind } from "./platform/http/limits/rate-limit.ts";
import type { Job } from "./platform/jobs/define.ts";
import { correctFutureTimesKind, deleteOldJobTurnsKind } from "./platform/jobs/maintenance.ts";
import { deleteOldThreadsKind } from "./processing/ask/queries.ts";
import { checkFilesKind } from "./processing/integrity/check.ts";
import { renderCompanionsKind } from "./processing/integrity/companions.ts";
import { analyzeRecordingKind, enqueueDueAnalysesKind } from "./processing/intelligence/analyze-recording.ts";
import { deleteOldUsageKind } from "./processing/intelligence/budget.ts";
import { tryLanguageModelsKind } from "./processing/intelligence/try-models.ts";
import { installModelKind } from "./processing/models/install-job.ts";
import {
  enqueueDueTranscriptionsKind,
  transcribeRecordingKind,
} from "./processing/transcription/transcribe-recording.ts";
import { deleteOldVoicesKind } from "./processing/transcription/voices/profiles.ts";
import { endUploadsOfDeactivatedKind } from "./processing/uploads/lifecycle/end-access.ts";
import { deleteStaleUploadsKind } from "./processing/uploads/lifecycle/stale.ts";
import {
  failExpiredMediaKind,
  failStuckUploadsKind,
  retryStuckUploadsKind,
} from "./processing/uploads/lifecycle/sweeps.ts";
import { promoteUploadKind } from "./processing/uploads/promotion/promote.ts";
import { promoteMediaKind } from "./processing/uploads/promotion/promote-media.ts";
import { validateUploadKind } from "./processing/uploads/promotion/validate-file.ts";
import { removeTranscriptCopiesKind } from "./processing/uploads/transcript-copies.ts";
import {
  correctFutureUploadChecksKind,
  failExpiredUploadsKind,
} from "./processing/uploads/transfer/arrival.ts";
import { joinUploadPartsKind } from "./processing/uploads/transfer/finish-pieces.ts";
import { reconcileClipsKind } from "./recordings/public-link-records/clips.ts";
import { emptyTrashKind } from "./recordings/trash/purge.ts";
import { deleteOldAccessRequestsKind, requestAccessKind } from "./sharing/access-requests/request.ts";
import { deleteOldNotificationsKind } from "./sharing/notifications/delete-old.ts";
import { emailNotificationsKind, enqueueDueEmailsKind } from "./sharing/notifications/email.ts";
import { renderClipKind } from "./sharing/public-links/render-clip.ts";

/** Every background job. Its file says what it does, when it runs and how it is shown. */
export const jobKinds: readonly Job[] = [
  // Enqueued by requests and other jobs.
  requestAccessKind,
  sendMailKind,
  sendDeliveryEmailKind,
  emailNotificationsKind,
  requestPasswordResetKind,
  importConnectionEventKind,
  fetchImportKind,
  importRecordingsKind,
  renderCompanionsKind,
  analyzeRecordingKind,
  matchMeetingKind,
  renderClipKind,
  erasePersonalDataKind,
  installModelKind,
  transcribeRecordingKind,
  promoteMediaKind,
  promoteUploadKind,
  validateUploadKind,
  joinUploadPartsKind,
  rotateSecretsKind,
  // By the clock, once over all processes.
  deleteOldAccessRequestsKind,
  deleteOldNotificationsKind,
  enqueueDueEmailsKind,
  deleteOldMailCountsKind,
  deleteDeadLinksKind,
  deleteEndedSessionsKind,
  deleteOldDevicesKind,
  deleteUsedChallengesKind,
  deleteOldSignInFailuresKind,
  deleteEndedTokensKind,
  anchorAuditLogKind,
  runScheduledBackupKind,
  warnOfOverdueBackupsKind,
  notifyAdminsKind,
  readCalendarsKind,
  deleteOldConnectionEventsKind,
  continueConnectionEventsKind,
  continueImportsKind,
  checkFilesKind,
  enqueueDueAnalysesKind,
  tryLanguageModelsKind,
  deleteOldUsageKind,
  deleteOldThreadsKind,
  deleteEndedOauthGrantsKind,
  deleteOldRateLimitCountersKind,
  correctFutureTimesKind,
  deleteOldJobTurnsKind,
  reconcileClipsKind,
  pruneAuditLogKind,
  applyRetentionRulesKind,
  removeOrphanedFilesKind,
  enqueueDueTranscriptionsKind,
  deleteOldVoicesKind,
  emptyTrashKind,
  endUploadsOfDeactivatedKind,
  deleteStaleUploadsKind,
  failExpiredMediaKind,
  failStuckUploadsKind,
  retryStuckUploadsKind,
  removeTranscriptCopiesKind,
  correctFutureUploadChecksKind,
  failExpiredUploadsKind,
  disableExpiredHooksKind,
  correctFutureDeliveriesKind,
  deleteOldHistoryKind,
  findForgottenHooksKind,
  forgetDeletedRecordingsKind,
  removeLeftFilesKind,
];

/** The names of the jobs that are enqueued. */
export const enqueuedNames: readonly string[] = jobKinds
  .filter(({ isRecurring }) => !isRecurring)
  .map(({ name }) => name);
