interface Limit {
  readonly limit: number;
}

interface Seconds {
  readonly seconds: number;
}

/** Who may change, share or delete a recording. */
const holderNames = {
  recorder: "the recording's recorders",
  admin: "admins",
  workspace_token: "workspace tokens",
} as const;

interface RightMissing {
  readonly holders: readonly (keyof typeof holderNames)[];
  /** Who may too, in English. */
  readonly others: readonly string[];
  /** Completes "only … may". */
  readonly action: string;
}

/** Why a request was refused, for users of the web app: the `detail` of the error. */
export const requestTexts = {
  link_limit: ({ limit }: Limit) => `the limit of ${limit} links is reached; revoke one first`,
  recording_not_public: "the recording is not public; set its share_state to public first",
  comment_author_only: "only the comment's author may change it",
  comment_author_or_admin_only: "only the comment's author, admins and workspace tokens may delete it",
  comment_limit: ({ limit }: Limit) =>
    `the limit of ${limit} comments per recording is reached; delete one first`,
  reaction_limit: ({ limit }: Limit) => `the limit of ${limit} reactions to a comment is reached`,
  domain_claim_limit: ({ limit }: Limit) =>
    `the limit of ${limit} claims is reached; delete one that is not needed`,
  dns_timeout: "no DNS server responded in time; try again in a minute",
  txt_record_missing: ({ name, value }: { name: string; value: string }) =>
    `${name} has no TXT record with the value ${value}; add it at your DNS provider. A new record can take an hour to be visible`,
  domain_owned: ({ domain }: { domain: string }) =>
    `another workspace of this server owns ${domain}; ask the operator of the server to release it`,
  retention_rule_limit: ({ limit }: Limit) => `the limit of ${limit} rules is reached; delete one first`,
  voice_profiles_off: "voice profiles are turned off; an admin can turn them on in Settings → General",
  voice_profile_limit: ({ limit }: Limit) =>
    `the limit of ${limit} voice profiles is reached; delete one first`,
  voice_unknown: ({ speaker }: { speaker: string }) =>
    `the voice of ${speaker} is not known; see List Recording Voices`,
  participant_limit: ({ limit }: Limit) => `the limit of ${limit} participants is reached; delete one first`,
  template_limit: ({ limit }: Limit) => `the limit of ${limit} templates is reached; delete one first`,
  highlight_limit: ({ limit }: Limit) =>
    `the limit of ${limit} highlights per recording is reached; delete one first`,
  meeting_type_limit: ({ limit }: Limit) =>
    `the limit of ${limit} meeting types is reached; delete one first`,
  passkey_limit: ({ limit }: Limit) =>
    `you have ${limit} passkeys, the most that are possible; remove one first`,
  mail_server_missing: "this server has no mail server; set PARLEY_SMTP_URL",
  host_busy_now: "this host has reached its number of requests per minute; try again",
  test_email_needs_user: "a test email goes to the caller, and a workspace token has no email",
  delivery_disabled: ({ reason }: { reason: string }) =>
    `the delivery is disabled (${reason}); enable the delivery first`,
  import_running: "another import is running; cancel it, or wait until it ends",
  questions_per_minute: ({ limit, seconds }: { limit: number; seconds: number }) =>
    `more than ${limit} questions in this minute; ask again in ${seconds} s`,
  question_running: "another question of yours is being answered; stop it, or wait until it is",
  hook_disabled: ({ reason }: { reason: string }) =>
    `the hook is disabled (${reason}); enable the hook first`,
  hook_changed: "another user just changed the hook; try again",
  sign_in_provider_missing:
    "no provider is set up; set PARLEY_OIDC_ISSUER, PARLEY_OIDC_CLIENT_ID and PARLEY_OIDC_CLIENT_SECRET",
  sign_in_provider_unusable: ({ reason }: { reason: string }) => `the provider can't be used: ${reason}`,
  settings_too_long: "these settings are too long to try; shorten the list of groups",
  job_stopped: "the job has stopped already; you can only retry it",
  failed_job_gone: ({ id }: { id: string }) =>
    `there is no failed job ${id}; it may be running, or have succeeded meanwhile`,
  summary_missing: "the language model has not written a summary of this recording",
  question_unanswered: "the question has no answer yet; wait until it is answered",
  no_password: "you have no password yet; ask an admin for a link to set one",
  password_changed_elsewhere: "the password was just changed elsewhere; sign in again",
  no_media_for_clip: "the recording has no media file to cut a clip from",
  transcript_missing: "the recording has no transcript",
  transcription_replaces_edits:
    "the recording is being transcribed again and its edits are dropped; edit the new transcript when it is done",
  transcript_changed: ({ version, seen }: { version: number; seen: number }) =>
    `the transcript is at version ${version}, not ${seen}; read it again and repeat the edit`,
  not_transcribing: "the recording is not being transcribed",
  legal_hold: "the recording is under legal hold; ask an admin to release the hold first",
  settings_in_file:
    "the settings are in the file that PARLEY_SETTINGS_FILE names; change them there, and restart",
  settings_change_outdated:
    "this change was undone, or its settings were changed again; undo the later change first",
  token_revoked: "the token was just revoked",
  transcript_has_edits:
    "the transcript has edits; set `edits` to keep to apply them to the new transcript, or to discard to drop them",
  break_glass_needs_second_factor:
    "this is the break-glass admin of single sign-on only, who needs the second factor to sign in; name another one under Settings → Security, or run on the server: parley security reset",
  second_factor_off: "two-factor authentication is not turned on",
  no_second_factor_to_reset:
    "this user has no authenticator app and no passkeys; what single sign-on asks for is set at the provider",
  single_sign_on_missing:
    "this server is not set up for single sign-on, so nobody could sign in; set up a provider first",
  settings_test_running: "this test is running already; wait until it has ended",
  no_pending_invitation: "this user has no pending invitation",
  user_deactivated: "this user is deactivated",
  invitation_not_accepted: "this user has not accepted the invitation yet; replace the invitation instead",
  second_factor_without_password:
    "two-factor authentication protects a password, and you have none; your provider protects your single sign-on",
  second_factor_required_by_workspace:
    "your workspace requires your second factor, so you can't turn it off; an admin can reset it if you lose your device",
  provider_unreachable: ({ provider }: { provider: string }) =>
    `${provider} can't be reached or is not set up correctly; try again, or ask an admin`,
  provider_not_allowed: ({ provider }: { provider: string }) =>
    `your workspace doesn't let you connect ${provider}: it allows single sign-on only, or groups at another provider give you teams or a role; ask an admin`,
  second_factor_unproven:
    "you have a passkey or single sign-on; sign in with it before you set up two-factor authentication, or ask an admin to reset it",
  second_factor_on: "two-factor authentication is already on; turn it off first",
  last_sign_in_method:
    "you could no longer sign in; add another way to sign in first, or ask an admin for a link to set a password",
  public_app_without_secret: ({ app }: { app: string }) => `${app} is a public app and has no secret`,
  not_in_team: ({ user }: { user: string }) => `user ${user} is not in this team`,
  team_exists: ({ name }: { name: string }) => `a team named ${name} already exists`,
  app_registered_by_admin: ({ app }: { app: string }) =>
    `an admin registered ${app}; change the app with Update OAuth Client`,
  undo_too_long: ({ number, limit }: { number: number; limit: string }) =>
    `undoing edit ${number} would make the transcript too long: it ${limit}; shorten other segments first`,
  edit_of_replaced_transcript: ({ number }: { number: number }) =>
    `edit ${number} belongs to a transcript that has since been replaced`,
  edit_undone: ({ number, by }: { number: number; by: number }) =>
    `edit ${number} was already undone, by edit ${by}`,
  event_not_failed: ({ state }: { state: string }) =>
    `the event is ${state}; only failed events can be retried`,
  upload_file_expired: ({ upload, time }: { upload: string; time: string }) =>
    `the file of upload ${upload} expired at ${time}; create the upload again`,
  model_installed: ({ name }: { name: string }) => `the model ${name} is installed already`,
  model_installing: ({ name }: { name: string }) => `the model ${name} is being installed already`,
  sign_in_provider_gone: ({ id }: { id: string }) => `there is no sign-in provider ${id}`,
  upload_accepts_no_file: ({ upload, status }: { upload: string; status: string }) =>
    `upload ${upload} is ${status} and accepts no file`,
  file_too_large: ({ limit }: Limit) =>
    `the file is too large and was not stored; the maximum is ${limit} bytes`,
  file_too_large_when_sent: ({ limit }: Limit) => `the file is too large; the maximum is ${limit} bytes`,
  storage_nearly_full: ({ bytes }: { bytes: number }) =>
    `the workspace's storage has room for only ${bytes} more bytes of the file; what earlier requests sent is kept; delete recordings or ask the operator for more storage`,
  storage_too_full_for_file: ({ bytes }: { bytes: number }) =>
    `the file is larger than the ${bytes} bytes free in the workspace's storage; nothing was stored; permanently delete recordings, also from the trash, or ask the operator for more storage`,
  folder_not_watched: ({ folder }: { folder: string }) =>
    `no running worker watches ${folder}; add it to PARLEY_WATCH_DIRS and restart the workers, or upload its files in the web app`,
  watched_file_gone: ({ id, folder }: { id: string; folder: string }) =>
    `there is no failed file ${id} in ${folder}; it may have been imported or retried meanwhile`,
  host_busy: ({ host, seconds }: { host: string; seconds: number }) =>
    `${host} has reached the maximum number of webhook requests per minute; try again in ${seconds} s`,
  public_link_missing: "there is no such link; check the URL, or ask the sender for a new one",
  public_link_expired: "this link has expired; ask the sender for a new one",
  public_link_locked: "this link requires a password; unlock it first",
  public_link_revoked: "the link was revoked",
  clip_gone: "the clip is no longer available; request it again",
  edit_missing: ({ number }: { number: number }) => `the history of this transcript has no edit ${number}`,
  trashed_recording_gone: ({ id }: { id: string }) =>
    `there is no recording ${id} in the trash that this token can restore`,
  not_in_trash: ({ id }: { id: string }) =>
    `there is no recording ${id} in the trash that this token can see`,
  not_on_hold: "the recording is not on legal hold",
  scim_token_limit: ({ limit }: Limit) =>
    `the limit of ${limit} SCIM tokens is reached; revoke one that is no longer used`,
  story_creator_or_admin_only: "only the story's creator, admins and workspace tokens may change it",
  operator_only:
    "only admins of the operator's workspace see the system; the operator names it with `parley workspace operator`",
  own_link_by_token: "a token can't create a link for its own account; sign in, or ask another admin",
  form_of_other_session: "this form does not belong to your current session; reload the page",
  meeting_unmatched: ({ id }: { id: string }) =>
    `the meeting ${id} is not one that may be of this recording; see Get Meeting of Recording`,
  access_request_closed: ({ user }: { user: string }) =>
    `user ${user} has no open request for access to this recording`,
  images_busy: "too many images are being fetched; try again in a few seconds",
  sign_ins_busy: "too many sign-ins at the moment; try again shortly",
  server_full: "the server is out of disk space or memory; try again later",
  server_busy: "the server is busy at the moment; try again shortly",
  store_unreachable: "the file store can't be reached at the moment; try again shortly",
  database_unreachable: "the database can't be reached at the moment; try again shortly",
  request_too_slow: "the request took too long to handle; try again later",
  second_factor_setup:
    "your workspace requires a second factor; set up two-factor authentication to continue",
  too_many_attempts: ({ seconds }: Seconds) =>
    `too many attempts; try again in ${seconds} ${seconds === 1 ? "second" : "seconds"}`,
  storage_full: ({ used, quota }: { used: number; quota: number }) =>
    `the workspace's storage is full: ${used} of ${quota} bytes are used or reserved; permanently delete recordings, also from the trash, or ask the operator for more storage`,
  storage_too_small: ({ used, quota, needed }: { used: number; quota: number; needed: number }) =>
    `the workspace's storage is full: ${used} of ${quota} bytes are used or reserved and the file needs ${needed}; permanently delete recordings, also from the trash, or ask the operator for more storage`,
  default_meeting_type: ({ name, scope }: { name: string; scope: string }) =>
    `${name} is the default for ${scope} meetings; make another type the default first`,
  meeting_type_used: ({ count, name }: { count: number; name: string }) =>
    `${count} recording${count === 1 ? " has" : "s have"} the meeting type ${name}; name its replacement in reassign_to`,
  settings_in_environment: ({ names }: { names: readonly string[] }) =>
    `${names.join(", ")} ${names.length === 1 ? "is" : "are"} set in the environment; change ${names.length === 1 ? "it" : "them"} there, or remove ${names.length === 1 ? "it" : "them"} and restart`,
  emails_to_recipient: ({ limit }: Limit) =>
    `${limit} emails of this kind were sent to this email address today, which is the limit; try again tomorrow`,
  emails_of_workspace: ({ limit }: Limit) =>
    `this workspace has sent ${limit} emails today, which is the limit; try again tomorrow`,
  nothing_to_undo: "there is no edit to undo",
  redo_cannot_be_undone: ({ number }: { number: number }) =>
    `edit ${number} is a redo and can't be undone; undo the edit it restored instead`,
  replacement_cannot_be_undone: ({ number }: { number: number }) =>
    `edit ${number} replaced the transcript, which can't be undone`,
  undo_speaker_changed: ({ number }: { number: number }) =>
    `edit ${number} can't be undone alone: its speaker has been changed since; undo the later edits first`,
  undo_segments_changed: ({ number, segments }: { number: number; segments: number }) =>
    `edit ${number} can't be undone alone: ${segments === 1 ? "1 of its segments has" : `${segments} of its segments have`} been changed since; undo the later edits first`,
  speech_model_missing:
    "this server has no speech model; ask an admin to install one in Settings → Transcription",
  no_media_to_transcribe: "the recording has no file to transcribe",
  transcribing: "the recording is already being transcribed; wait until that has finished",
  transcript_edited:
    "the transcript was edited; set `edits` to keep to apply its edits to the new transcript, or to discard to drop them",
  transcript_supplied:
    "the transcript was supplied, and transcribing the recording again would replace it; set `edits` to keep to apply its edits to the new transcript, or to discard to drop them",
  last_admin: "this is the last active admin of the workspace; make someone else an admin first",
  break_glass_admin:
    "this is the break-glass admin of single sign-on only; name another one under Settings → Security, or turn that rule off first",
  email_unavailable: ({ email }: { email: string }) =>
    `${email} cannot be added to this workspace; check the email, or ask the operator of this server`,
  own_data: "you can't erase your own data; ask another admin",
  language_model_not_installed: ({ subject }: { subject: string }) =>
    `${subject} need a language model, which an admin of this server can install in Settings → Language model, or the operator can connect with PARLEY_LLM_URL`,
  language_model_off: ({ subject }: { subject: string }) =>
    `${subject} need a language model, which is turned off on this server with PARLEY_LLM=off`,
  language_model_disabled: ({ subject }: { subject: string }) =>
    `${subject} need a language model, which is switched off for this workspace; an admin of the workspace can switch it on in Settings → Templates`,
  code_refused: "the code is wrong or was already used",
  password_refused: "incorrect email or password",
  upload_not_ready: ({ upload, state }: { upload: string; state: string }) =>
    `upload ${upload} is ${state}; it can be promoted only while staged with auto_promote false`,
  upload_not_editable: ({ upload, state }: { upload: string; state: string }) =>
    `upload ${upload} is ${state}; it can be updated while awaiting, or staged with auto_promote false`,
  upload_is_recording: ({ upload }: { upload: string }) =>
    `upload ${upload} is a recording already; transcribe the recording again with another language`,
  upload_failed: ({ upload }: { upload: string }) => `upload ${upload} has failed; create it again`,
  right_missing: ({ holders, others, action }: RightMissing) =>
    `only ${new Intl.ListFormat("en-GB").format([...others, ...holders.map((holder) => holderNames[holder])])} may ${action}`,
  rule_address:
    "your workspace allows access from certain IP addresses only; connect to its network, or ask an admin",
  rule_session_age: "the session has reached the longest life that your workspace allows; sign in again",
  rule_session_idle: "the session was not used for as long as your workspace allows; sign in again",
  rule_token_age: "the token has reached the longest life that your workspace allows; create a new one",
  rule_single_sign_on:
    "your workspace allows single sign-on only; sign in with it, and create tokens and authorize apps again",
  rule_second_factor: "your workspace requires a second factor; sign in with a browser and set it up",
  lockout_address: "your own IP address is outside the ranges, so you would be locked out at once; add it",
  lockout_single_sign_on:
    "you did not sign in by single sign-on, so your session would end at once; sign in with it first, or name yourself as the break-glass admin and sign in with your second factor",
  lockout_second_factor:
    "you did not sign in with a second factor, so you would be locked out at once; set it up first, or give a grace period",
  lockout_session_age:
    "your session is older than the longest session, so it would end at once; sign in again first",
  lockout_session_idle: "your session would end at once; sign in again first",
  lockout_token_age: "your token would end at once",
} as const;

/** Why one more of something that users may have a limited number of is refused. */
export const quotaTexts = {
  clip_quota: ({ limit }: Limit) =>
    `the limit of ${limit} clips that are being prepared for you is reached; wait until one is ready`,
  delivery_quota: ({ limit }: Limit) =>
    `the limit of ${limit} webhooks and deliveries of one user is reached; delete one that is no longer used`,
  connection_quota: ({ limit }: Limit) =>
    `the limit of ${limit} connections per workspace is reached; delete one first`,
  hook_quota: ({ limit }: Limit) =>
    `the limit of ${limit} hooks of one user is reached; delete one that is no longer used`,
  token_quota: ({ limit }: Limit) =>
    `the limit of ${limit} active tokens is reached; revoke one that is no longer used`,
  open_upload_quota: ({ limit }: Limit) =>
    `the limit of ${limit} open uploads is reached; send their files, promote them, or wait until they become recordings`,
  room_calendar_quota: ({ limit }: Limit) =>
    `the limit of ${limit} room calendars is reached; remove one first`,
  calendar_quota: ({ limit }: Limit) => `the limit of ${limit} calendars is reached; remove one first`,
} as const;
