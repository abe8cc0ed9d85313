import { plural, t } from "@lingui/core/macro";
import type { CauseValues } from "../../contract/causes/causes.ts";
import type {
  quotaTexts as serverQuotaTexts,
  requestTexts as serverTexts,
} from "../../contract/causes/requests.ts";
import { listText, sizeText, whenText } from "./values.ts";

type RequestCause = keyof typeof serverTexts | keyof typeof serverQuotaTexts;

/** Why a request was refused, and what to do. */
export const requestTexts: { readonly [Code in RequestCause]: (values: CauseValues<Code>) => string } = {
  // Limits.
  link_limit: ({ limit }) =>
    plural(limit, {
      one: "The limit of # link is reached. Revoke it first.",
      other: "The limit of # links is reached. Revoke one first.",
    }),
  comment_limit: ({ limit }) =>
    plural(limit, {
      one: "The limit of # comment per recording is reached. Delete it first.",
      other: "The limit of # comments per recording is reached. Delete one first.",
    }),
  reaction_limit: ({ limit }) =>
    plural(limit, {
      one: "The limit of # reaction to a comment is reached.",
      other: "The limit of # reactions to a comment is reached.",
    }),
  domain_claim_limit: ({ limit }) =>
    plural(limit, {
      one: "The limit of # claim is reached. Delete it first.",
      other: "The limit of # claims is reached. Delete one that is not needed.",
    }),
  retention_rule_limit: ({ limit }) =>
    plural(limit, {
      one: "The limit of # rule is reached. Delete it first.",
      other: "The limit of # rules is reached. Delete one first.",
    }),
  voice_profile_limit: ({ limit }) =>
    plural(limit, {
      one: "The limit of # voice profile is reached. Delete it first.",
      other: "The limit of # voice profiles is reached. Delete one first.",
    }),
  participant_limit: ({ limit }) =>
    plural(limit, {
      one: "The limit of # participant is reached. Delete it first.",
      other: "The limit of # participants is reached. Delete one first.",
    }),
  template_limit: ({ limit }) =>
    plural(limit, {
      one: "The limit of # template is reached. Delete it first.",
      other: "The limit of # templates is reached. Delete one first.",
    }),
  highlight_limit: ({ limit }) =>
    plural(limit, {
      one: "The limit of # highlight per recording is reached. Delete it first.",
      other: "The limit of # highlights per recording is reached. Delete one first.",
    }),
  meeting_type_limit: ({ limit }) =>
    plural(limit, {
      one: "The limit of # meeting type is reached. Delete it first.",
      other: "The limit of # meeting types is reached. Delete one first.",
    }),
  passkey_limit: ({ limit }) =>
    plural(limit, {
      one: "You have # passkey, the most that are possible. Remove it first.",
      other: "You have # passkeys, the most that are possible. Remove one first.",
    }),
  scim_token_limit: ({ limit }) =>
    plural(limit, {
      one: "The limit of # SCIM token is reached. Revoke it first.",
      other: "The limit of # SCIM tokens is reached. Revoke one that is no longer used.",
    }),
  clip_quota: ({ limit }) =>
    plural(limit, {
      one: "The limit of # clip that is being prepared for you is reached. Wait until it is ready.",
      other: "The limit of # clips that are being prepared for you is reached. Wait until one is ready.",
    }),
  delivery_quota: ({ limit }) =>
    plural(limit, {
      one: "The limit of # webhook or delivery of one user is reached. Delete it first.",
      other:
        "The limit of # webhooks and deliveries of one user is reached. Delete one that is no longer used.",
    }),
  connection_quota: ({ limit }) =>
    plural(limit, {
      one: "The limit of # connection per workspace is reached. Delete it first.",
      other: "The limit of # connections per workspace is reached. Delete one first.",
    }),
  hook_quota: ({ limit }) =>
    plural(limit, {
      one: "The limit of # webhook of one user is reached. Delete it first.",
      other: "The limit of # webhooks of one user is reached. Delete one that is no longer used.",
    }),
  token_quota: ({ limit }) =>
    plural(limit, {
      one: "The limit of # active token is reached. Revoke it first.",
      other: "The limit of # active tokens is reached. Revoke one that is no longer used.",
    }),
  open_upload_quota: ({ limit }) =>
    plural(limit, {
      one: "The limit of # open upload is reached. Finish it, or wait until it becomes a recording.",
      other: "The limit of # open uploads is reached. Finish some, or wait until they become recordings.",
    }),
  room_calendar_quota: ({ limit }) =>
    plural(limit, {
      one: "The limit of # room calendar is reached. Remove it first.",
      other: "The limit of # room calendars is reached. Remove one first.",
    }),
  calendar_quota: ({ limit }) =>
    plural(limit, {
      one: "The limit of # calendar is reached. Remove it first.",
      other: "The limit of # calendars is reached. Remove one first.",
    }),
  too_many_attempts: ({ seconds }) =>
    plural(seconds, {
      one: "Too many attempts. Try again in # second.",
      other: "Too many attempts. Try again in # seconds.",
    }),
  questions_per_minute: ({ seconds }) =>
    plural(seconds, {
      one: "Too many questions in this minute. Ask again in # second.",
      other: "Too many questions in this minute. Ask again in # seconds.",
    }),
  emails_to_recipient: () =>
    t`Too many emails of this kind were sent to this email address today. Try again tomorrow.`,
  emails_of_workspace: ({ limit }) =>
    plural(limit, {
      one: "This workspace has sent # email today, which is the limit. Try again tomorrow.",
      other: "This workspace has sent # emails today, which is the limit. Try again tomorrow.",
    }),
  host_busy: ({ host }) =>
    t`${host} has reached its number of webhook requests per minute. Try again in a minute.`,
  host_busy_now: () => t`This host has reached its number of requests per minute. Try again in a minute.`,
  file_too_large: ({ limit }) => {
    const max = sizeText(limit);
    return t`The file is too large. The maximum is ${max}.`;
  },
  file_too_large_when_sent: ({ limit }) => {
    const max = sizeText(limit);
    return t`The file is too large. The maximum is ${max}.`;
  },
  storage_full: () =>
    t`The workspace's storage is full. Permanently delete recordings, also from the trash, or ask your server's administrator for more.`,
  storage_too_small: () =>
    t`The workspace's storage is full. Permanently delete recordings, also from the trash, or ask your server's administrator for more.`,
  storage_too_full_for_file: ({ bytes }) => {
    const room = sizeText(bytes);
    return t`The workspace's storage has room for only ${room}. Permanently delete recordings, also from the trash, or ask your server's administrator for more.`;
  },
  storage_nearly_full: ({ bytes }) => {
    const room = sizeText(bytes);
    return t`The workspace's storage has room for only ${room} more of the file. Permanently delete recordings, also from the trash, or ask your server's administrator for more.`;
  },

  // Recordings.
  right_missing: ({ holders }) =>
    holders.includes("recorder")
      ? t`Only the recording's recorders and admins can do this.`
      : t`Only admins can do this.`,
  recording_not_public: () => t`The recording is not public. Share it with everybody first.`,
  legal_hold: () => t`The recording is under legal hold. Ask an admin to release the hold first.`,
  not_on_hold: () => t`The recording is not on legal hold any more.`,
  trashed_recording_gone: () => t`The recording is not in the trash any more.`,
  not_in_trash: () => t`The recording is not in the trash any more.`,
  comment_author_only: () => t`Only the comment's author can change it.`,
  comment_author_or_admin_only: () => t`Only the comment's author and admins can delete it.`,
  story_creator_or_admin_only: () => t`Only the story's creator and admins can change it.`,
  no_media_for_clip: () => t`The recording has no video or audio to cut a clip from.`,
  clip_gone: () => t`The clip is no longer available. Request it again.`,
  meeting_unmatched: () => t`This meeting doesn't fit the recording any more. Reload the page.`,
  access_request_closed: () => t`This request for access is closed already. Reload the page.`,
  summary_missing: () => t`The language model has not written a summary of this recording.`,
  question_unanswered: () => t`The question has no answer yet. Wait until it is answered.`,
  question_running: () =>
    t`Another question of yours is being answered. Stop it, or wait until it is answered.`,
  language_model_not_installed: () =>
    t`This needs a language model. An admin of this server can install one in Settings → Language model.`,
  language_model_off: () => t`This needs a language model, which is turned off on this server.`,
  language_model_disabled: () =>
    t`This needs a language model, which is switched off for this workspace. An admin can switch it on in Settings → Templates.`,
  public_link_missing: () => t`There is no such link. Check the URL, or ask the sender for a new one.`,
  public_link_expired: () => t`This link has expired. Ask the sender for a new one.`,
  public_link_locked: () => t`This link requires a password.`,
  public_link_revoked: () => t`This link was revoked.`,

  // Transcripts.
  transcript_missing: () => t`The recording has no transcript.`,
  speech_model_missing: () =>
    t`This server has no speech model. Ask an admin to install one in Settings → Transcription.`,
  no_media_to_transcribe: () => t`The recording has no file to transcribe.`,
  transcribing: () => t`The recording is already being transcribed. Wait until that has finished.`,
  not_transcribing: () => t`The recording is not being transcribed.`,
  transcription_replaces_edits: () =>
    t`The recording is being transcribed again, and its edits are dropped. Edit the new transcript when it is done.`,
  transcript_edited: () => t`The transcript was edited. Choose whether to keep the edits.`,
  transcript_supplied: () =>
    t`The transcript was supplied, and transcribing the recording again would replace it. Choose whether to keep its edits.`,
  transcript_has_edits: () => t`The transcript has edits. Choose whether to keep them.`,
  transcript_changed: () => t`The transcript has changed since. Reload the page and repeat the edit.`,
  nothing_to_undo: () => t`There is no edit to undo.`,
  edit_missing: ({ number }) => t`The history of this transcript has no edit ${number}.`,
  edit_of_replaced_transcript: ({ number }) =>
    t`Edit ${number} belongs to a transcript that has since been replaced.`,
  edit_undone: ({ number, by }) => t`Edit ${number} was already undone, by edit ${by}.`,
  redo_cannot_be_undone: ({ number }) =>
    t`Edit ${number} is a redo and can't be undone. Undo the edit it restored instead.`,
  replacement_cannot_be_undone: ({ number }) =>
    t`Edit ${number} replaced the transcript, which can't be undone.`,
  undo_speaker_changed: ({ number }) =>
    t`Edit ${number} can't be undone alone, because its speaker has been changed since. Undo the later edits first.`,
  undo_segments_changed: ({ number, segments }) =>
    plural(segments, {
      one: `Edit ${number} can't be undone alone, because # of its lines has been changed since. Undo the later edits first.`,
      other: `Edit ${number} can't be undone alone, because # of its lines have been changed since. Undo the later edits first.`,
    }),
  undo_too_long: ({ number }) =>
    t`Undoing edit ${number} would make the transcript too long. Shorten other lines first.`,
  voice_profiles_off: () =>
    t`Voice profiles are turned off. An admin can turn them on in Settings → General.`,
  voice_unknown: ({ speaker }) => t`The voice of ${speaker} is not known.`,

  // Uploads and imports.
  upload_file_expired: ({ time }) => {
    const when = whenText(time);
    return t`The file of this upload expired on ${when}. Upload it again.`;
  },
  upload_accepts_no_file: () => t`This upload accepts no file any more. Upload the file again.`,
  upload_not_ready: () => t`This upload can't be published in its current state. Reload the page.`,
  upload_not_editable: () => t`This upload can't be changed any more. Reload the page.`,
  upload_is_recording: () =>
    t`This upload is a recording already. Transcribe the recording again with another language.`,
  upload_failed: () => t`This upload has failed. Upload the file again.`,
  import_running: () => t`Another import is running. Cancel it, or wait until it ends.`,
  event_not_failed: () => t`Only failed events can be retried.`,
  folder_not_watched: ({ folder }) =>
    t`No running server process watches ${folder}. Ask your server's administrator, or upload its files here.`,
  watched_file_gone: () =>
    t`This file is no longer among the failed ones. It may have been imported meanwhile.`,

  // Accounts.
  code_refused: () => t`The code is wrong or was already used.`,
  password_refused: () => t`Incorrect email or password.`,
  no_password: () => t`You have no password yet. Ask an admin for a link to set one.`,
  password_changed_elsewhere: () => t`The password was just changed elsewhere. Sign in again.`,
  last_sign_in_method: () =>
    t`You could no longer sign in. Add another way to sign in first, or ask an admin for a link to set a password.`,
  provider_unreachable: ({ provider }) =>
    t`${provider} can't be reached or is not set up correctly. Try again, or ask an admin.`,
  provider_not_allowed: ({ provider }) =>
    t`Your workspace doesn't let you connect ${provider}: it allows single sign-on only, or your groups at another provider give you teams or a role. Ask an admin.`,
  second_factor_unproven: () =>
    t`You have a passkey or single sign-on. Sign in with it before you set up two-factor authentication, or ask an admin to reset it.`,
  second_factor_on: () => t`Two-factor authentication is already on. Turn it off first.`,
  no_second_factor_to_reset: () =>
    t`This user has no authenticator app and no passkeys. What single sign-on asks for is set at the provider.`,
  second_factor_off: () => t`Two-factor authentication is not turned on.`,
  second_factor_setup: () =>
    t`Your workspace requires a second factor. Set up two-factor authentication to continue.`,
  second_factor_without_password: () =>
    t`Two-factor authentication protects a password, and you have none. Your provider protects your single sign-on.`,
  second_factor_required_by_workspace: () =>
    t`Your workspace requires your second factor, so you can't turn it off. An admin can reset it if you lose your device.`,
  break_glass_needs_second_factor: () =>
    t`This is the break-glass admin of single sign-on only, who needs the second factor to sign in. Name another one under Settings → Security first.`,
  break_glass_admin: () =>
    t`This is the break-glass admin of single sign-on only. Name another one under Settings → Security, or turn that rule off first.`,
  last_admin: () => t`This is the last active admin of the workspace. Make someone else an admin first.`,
  own_data: () => t`You can't erase your own data. Ask another admin.`,
  own_link_by_token: () => t`Sign in to create a link for your own account, or ask another admin.`,
  email_unavailable: ({ email }) =>
    t`${email} can't be added to this workspace. Check the email, or ask your server's administrator.`,
  no_pending_invitation: () => t`This user has no pending invitation.`,
  invitation_not_accepted: () =>
    t`This user has not accepted the invitation yet. Replace the invitation instead.`,
  user_deactivated: () => t`This user is deactivated.`,
  token_revoked: () => t`The token was just revoked.`,
  form_of_other_session: () => t`This form does not belong to your current session. Reload the page.`,
  rule_address: () =>
    t`Your workspace allows access from certain IP addresses only. Connect to its network, or ask an admin.`,
  rule_session_age: () =>
    t`Your session has reached the longest life that your workspace allows. Sign in again.`,
  rule_session_idle: () => t`Your session was not used for as long as your workspace allows. Sign in again.`,
  rule_token_age: () =>
    t`The token has reached the longest life that your workspace allows. Create a new one.`,
  rule_single_sign_on: () => t`Your workspace allows single sign-on only. Sign in with it.`,
  rule_second_factor: () => t`Your workspace requires a second factor. Sign in again and set it up.`,
  lockout_address: () =>
    t`Your own IP address is outside the ranges, so you would be locked out at once. Add it.`,
  lockout_single_sign_on: () =>
    t`You did not sign in by single sign-on, so your session would end at once. Sign in with it first, or name yourself as the break-glass admin and sign in with your second factor.`,
  lockout_second_factor: () =>
    t`You did not sign in with a second factor, so you would be locked out at once. Set it up first, or give a grace period.`,
  lockout_session_age: () =>
    t`Your session is older than the longest session, so it would end at once. Sign in again first.`,
  lockout_session_idle: () => t`Your session would end at once. Sign in again first.`,
  lockout_token_age: () => t`Your token would end at once.`,

  // The workspace.
  team_exists: ({ name }) => t`A team named ${name} already exists.`,
  not_in_team: () => t`This user is not in this team any more.`,
  default_meeting_type: ({ name }) =>
    t`${name} is a default meeting type. Make another one the default first.`,
  meeting_type_used: ({ count, name }) =>
    plural(count, {
      one: `# recording has the meeting type ${name}. Choose a replacement.`,
      other: `# recordings have the meeting type ${name}. Choose a replacement.`,
    }),
  domain_owned: ({ domain }) =>
    t`Another workspace of this server owns ${domain}. Ask your server's administrator to release it.`,
  txt_record_missing: ({ name, value }) =>
    t`${name} has no TXT record with the value ${value}. Add it at your DNS provider. A new record can take an hour to be visible.`,
  dns_timeout: () => t`No DNS server responded in time. Try again in a minute.`,
  public_app_without_secret: ({ app }) => t`${app} is a public app and has no secret.`,
  app_registered_by_admin: ({ app }) => t`An admin registered ${app}. Ask an admin to change the app.`,
  hook_disabled: () => t`The webhook is disabled. Enable it first.`,
  hook_changed: () => t`Another user just changed the webhook. Try again.`,
  delivery_disabled: () => t`The delivery is disabled. Enable it first.`,
  test_email_needs_user: () => t`A test email needs a user to send it to.`,

  // The server.
  operator_only: () => t`Only admins of the workspace that operates this server can see the system.`,
  mail_server_missing: () => t`This server has no mail server. Ask its administrator to set one up.`,
  single_sign_on_missing: () =>
    t`This server is not set up for single sign-on, so nobody could sign in. Set up a provider first.`,
  sign_in_provider_missing: () => t`No provider is set up.`,
  sign_in_provider_gone: () => t`This sign-in provider was removed.`,
  sign_in_provider_unusable: ({ reason }) => t`The provider can't be used: ${reason}`,
  settings_too_long: () => t`These settings are too long to try. Shorten the list of groups.`,
  settings_test_running: () => t`This test is running already. Wait until it has ended.`,
  settings_in_file: () =>
    t`The settings are in the file that PARLEY_SETTINGS_FILE names. Change them there, and restart the server.`,
  settings_in_environment: ({ names }) => {
    const list = listText(names);
    return t`Set in the environment of the server: ${list}. Change it there, or remove it and restart the server.`;
  },
  settings_change_outdated: () =>
    t`This change was undone, or its settings were changed again. Undo the later change first.`,
  job_stopped: () => t`The job has stopped already. You can only retry it.`,
  failed_job_gone: () => t`This job is no longer failed. It may be running, or have succeeded meanwhile.`,
  model_installed: ({ name }) => t`The model ${name} is installed already.`,
  model_installing: ({ name }) => t`The model ${name} is being installed already.`,
  images_busy: () => t`Too many images are being fetched. Try again in a few seconds.`,
  sign_ins_busy: () => t`Too many users are signing in at the moment. Try again shortly.`,
  server_full: () => t`The server is out of disk space or memory. Try again later.`,
  server_busy: () => t`The server is busy at the moment. Try again shortly.`,
  store_unreachable: () => t`The file store can't be reached at the moment. Try again shortly.`,
  database_unreachable: () => t`The database can't be reached at the moment. Try again shortly.`,
  request_too_slow: () => t`The request took too long. Try again later.`,
};
