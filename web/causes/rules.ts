import { plural, t } from "@lingui/core/macro";
import type { CauseValues } from "../../contract/causes/causes.ts";
import type { ruleTexts as serverTexts } from "../../contract/causes/rules.ts";
import { textOf } from "./sentences.ts";
import { lengthText, listText, whenText } from "./values.ts";

/** The rules of fields, as they are shown below the field. */
export const ruleTexts: {
  readonly [Code in keyof typeof serverTexts]: (values: CauseValues<Code>) => string;
} = {
  required: () => t`Required`,
  wrong_type: () => t`Has the wrong format`,
  not_a_choice: ({ choices }) => {
    const list = listText(choices, "disjunction");
    return t`Must be one of: ${list}`;
  },
  too_many_characters: ({ max }) =>
    plural(max, { one: "Must have at most # character", other: "Must have at most # characters" }),
  too_many_entries: ({ max }) =>
    plural(max, { one: "Must have at most # entry", other: "Must have at most # entries" }),
  number_too_large: ({ max }) => t`Must be at most ${max}`,
  number_too_small: ({ min }) => t`Must be at least ${min}`,
  unknown_field: () => t`Is not supported here`,
  after_recording_end: ({ ms }) => {
    const end = lengthText(ms / 1000);
    return t`Is after the end of the recording, which is ${end} long`;
  },
  not_before_recording_end: ({ ms }) => {
    const end = lengthText(ms / 1000);
    return t`Must be before the end of the recording, which is ${end} long`;
  },
  highlight_after_recording_end: ({ ms }) => {
    const end = lengthText(ms / 1000);
    return t`Makes the highlight end after the recording, which is ${end} long`;
  },
  too_many_tags: ({ max }) =>
    plural(max, {
      one: "A recording can have only # tag. Remove it first.",
      other: "A recording can have at most # tags. Remove a tag first.",
    }),
  subtitles_unreadable: (values) => {
    const reason = textOf(values.reason);
    return t`Can't be read as subtitles: ${reason}`;
  },
  token_outlives_token: ({ latest }) => {
    const when = whenText(latest);
    return t`Must be ${when} at the latest, when your current token expires`;
  },
  token_outlives_rule: ({ latest }) => {
    const when = whenText(latest);
    return t`Must be ${when} at the latest, the longest life of tokens in your workspace`;
  },
  blank: () => t`Must not be blank`,
  blank_notes: () => t`Must not be blank; delete the notes instead`,
  not_valid: () => t`Is not valid`,
  field_required: () => t`Is required`,
  not_a_user: () => t`Choose a user of this workspace`,
  not_an_active_user: () => t`Choose an active user of this workspace`,
  not_an_active_member: () => t`Choose an active user of this workspace`,
  not_a_team: () => t`Choose a team of this workspace`,
  not_a_team_here: () => t`Choose a team of this workspace`,
  not_a_meeting_type: () => t`Choose a meeting type of this workspace`,
  not_another_meeting_type: () => t`Choose another meeting type of this workspace`,
  not_a_participant: () => t`Choose a participant of this recording`,
  not_a_speaker: () => t`Choose a speaker of this transcript`,
  not_a_segment: () => t`Choose a line of this transcript`,
  not_a_highlight: () => t`Was deleted, or isn't shared with you`,
  not_a_comment: () => t`Was deleted`,
  listed_already: () => t`Is in the list already`,
  listed_twice: () => t`Is listed twice`,
  personal_token_needed: () => t`Needs a personal token; this is a workspace token`,
  not_email: () => t`Must be an email address`,
  not_email_domain: () => t`Must be an email domain, such as example.com`,
  not_domain: () => t`Must be a domain, such as example.com`,
  not_web_url: () => t`Must be an http or https URL`,
  not_absolute_url: () => t`Must be an absolute URL in ASCII, such as https://app.example.com/callback`,
  not_model_path: () => t`Must be the absolute path of a GGUF file, which ends in .gguf`,
  not_model_name: () =>
    t`Must be lowercase letters, digits, dots, underscores and hyphens, and start with a letter or digit`,
  not_origin: () => t`Must be an origin such as https://app.example.com, without a path`,
  not_safe_redirect: () =>
    t`Must start with https://; http:// is only allowed for 127.0.0.1, [::1] and localhost`,
  redirect_with_fragment: () => t`Must not have a fragment`,
  redirect_with_wildcard: () => t`Must not contain *, because URLs must match exactly`,
  redirect_with_login: () => t`Must not contain a user name or password`,
  token_unencrypted: () => t`Must be an https URL, or the token would be sent unencrypted`,
  secrets_unencrypted: () => t`Must be an https URL, or its secrets would be sent unencrypted`,
  credentials_unencrypted: () => t`Must be an https URL, or the credentials would be sent unencrypted`,
  in_future: () => t`Must not be in the future`,
  is_in_future: () => t`Must not be in the future`,
  not_in_future: () => t`Must be in the future`,
  before_start: () => t`Must not be before the start`,
  not_after_start: () => t`Must be after the start`,
  not_after_planned_start: () => t`Must be after the scheduled start`,
  not_after_join: () => t`Must be after the time of joining`,
  not_before_leave: () => t`Must be before the time of leaving`,
  not_before_end: () => t`Must be before the end of the recording`,
  later_than_since: () => t`Must be later than the beginning`,
  longer_than_recordings: () => t`Is later than any recording can be long`,
  person_without_data: () => t`Enter a name, an email or a phone number`,
  users_missing: () => t`Choose at least one user`,
  speakers_missing: () => t`Choose at least one speaker`,
  segments_missing: () => t`Choose at least one line`,
  segment_missing: () => t`Must have at least one line`,
  entry_missing: () => t`Must have at least one entry`,
  too_short_for_code: () => t`Must have at least 6 characters`,
  too_short_for_password: () => t`Must have at least 12 characters`,
  password_too_simple: () => t`Is too easy to guess. Choose another`,
  password_is_email: () => t`Must not be the email address`,
  password_wrong_now: () => t`Is not your current password`,
  code_of_other_secret: () => t`Is not the right code. Check the clock of your device, or start again`,
  not_language: () => t`Must be a language code, such as en`,
  not_time_zone: () => t`Must be a time zone, such as Europe/Berlin`,
  not_known_time_zone: () => t`Must be a time zone, such as Europe/Berlin`,
  not_timestamp: () => t`Must be a date and time`,
  not_date: () => t`Must be a date`,
  not_number: () => t`Must be a number`,
  not_host: () => t`Must be a host name, or a dot and a domain`,
  not_address_range: () => t`Must be an IP address or range, such as 192.0.2.0/24 or 2001:db8::/32`,
  not_slug: () => t`Must be lower-case letters, digits and hyphens`,
  not_one_emoji: () => t`Must be one emoji`,
  reply_with_time: () => t`A reply has the time of its thread`,
  mention_without_access: () => t`Can't see the recording. Share it with them first`,
  speaker_name_taken: () => t`Is the name of another speaker. Merge the two instead`,
  type_name_taken: () => t`Is the name of another meeting type`,
  template_title_taken: () => t`Is the title of another template`,
  quote_not_in_chapter: () => t`Is not in the transcript of this chapter. Leave it empty`,
  thread_of_other_recording: () => t`Is not the recording that the conversation is about`,
  filter_of_one_recording: () => t`Can't be used for a question about one recording`,
  only_for_recordings: () => t`Is only for links of recordings`,
  chat_only: () => t`Is only for deliveries to a chat`,
  markdown_only: () => t`Is only for deliveries as Markdown files`,
  chat_url_missing: () => t`Enter the URL of the incoming webhook`,
  not_folder_names: () => t`Must be folder names separated by /, of the letters A to Z, digits, -, _ and .`,
  caldav_password_missing: () => t`Is required for CalDAV. Use an app password`,
  caldav_only: () => t`Is only for CalDAV`,
  caldav_not_found: () => t`Is not on a CalDAV server. Check the URL, or add it as an ICS calendar`,
  oauth_credentials_missing: () => t`Is required with the other OAuth credentials`,
  not_base64: () => t`Must be Base64, as Attendee shows it`,
  break_glass_without_factor: () =>
    t`Choose an admin who has a password and two-factor authentication turned on`,
  break_glass_missing: () =>
    t`Choose an admin who can still sign in with a password when the provider can't be reached`,
  claim_missing: () => t`Enter the name of the claim that lists the groups`,
  not_issuer: () =>
    t`Must be the https URL of an OpenID Connect issuer, without user name, password and query`,
  issuer_secret_again: () => t`Was entered for another issuer. Enter it again`,
  environment_only: () => t`Can only be set in the environment of the server`,
  not_duration: () => t`Must be a duration, such as 90s, 24h or 7d, of at most ten years`,
  not_bytes: () => t`Must be an amount of bytes, such as 500GB, 1TiB or 1000000`,
  not_time_of_day: () => t`Must be a time, such as 03:00`,
  not_smtp_url: () => t`Must be a URL, such as smtp://user:password@mail.example.com:587`,
  not_base_url: () => t`Must be an http or https URL, such as https://parley.example.com`,
  not_language_or_auto: () => t`Must be a language code, such as en or pt-BR, or auto`,
  too_many_settings: () => t`Must have at most 100 settings`,
  nul_character: () => t`Must not contain a NUL character`,
  half_surrogate: () => t`Has characters that can't be stored`,
  nested_too_deeply: () => t`Is nested too deeply`,
  not_uuid: () => t`Is not a valid ID`,
  more_than_200_entries: () => t`Can have at most 200 entries`,
  more_than_60_characters: () => t`Must have at most 60 characters`,
};
