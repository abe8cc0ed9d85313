import { plural, t } from "@lingui/core/macro";
import type { calendarSentences } from "../../../contract/failures/calendars.ts";
import type { SentenceValues } from "../../../contract/sentences.ts";

/** Why a calendar, or an entry of it, can't be read. */
export const calendarTexts: {
  readonly [Code in keyof typeof calendarSentences]: (values: SentenceValues<Code>) => string;
} = {
  calendar_busy: () => t`The calendar gets too many requests and asks to wait (429).`,
  calendar_password: ({ status }) =>
    t`The calendar refuses the username or password (${status}); create an app password and enter it with the full username.`,
  calendar_private: ({ status }) =>
    t`The calendar can't be read without signing in (${status}); use its secret address.`,
  calendar_gone: ({ status }) => t`The calendar is not at this URL (${status}); copy the URL again.`,
  calendar_down: ({ status }) =>
    t`The calendar can't be read now, because its server fails (${status}); try again later.`,
  calendar_status: ({ status }) =>
    t`The calendar can't be read: its server responds with the status ${status}; check the URL.`,
  calendar_error: () => t`The calendar can't be read, because of an error of this server; see its log.`,
  calendar_secret_changed: () =>
    t`The calendar can't be read, because PARLEY_SECRET has changed since it was added; remove it and add it again.`,
  calendar_slow: () => t`The calendar takes too long to arrive; try again later.`,
  calendar_unreachable: ({ reason }) => t`The calendar can't be read: ${reason}; check the URL.`,
  calendar_not_caldav: () => t`The calendar is not on a CalDAV server; check the URL, or choose ICS.`,
  calendar_not_xml: () => t`The calendar can't be read: its server's response is not valid XML.`,
  calendar_other_host: ({ host }) => t`The calendar is on another host, ${host}; use its URL there.`,
  calendar_no_account: () => t`The calendar was not found: there is no CalDAV account at this URL; check it.`,
  calendar_none: () => t`The calendar was not found: the account has no calendars.`,
  calendar_several: ({ count, names }) =>
    plural(Number(count), {
      one: `The calendar leads to # calendar (${names}); enter its URL.`,
      other: `The calendar leads to # calendars (${names}); enter the URL of one.`,
    }),
  calendar_web_page: () =>
    t`The calendar leads to a web page, not to a calendar; use the secret address in iCal format (.ics).`,
  calendar_empty: () => t`The calendar leads to an empty file, not to a calendar.`,
  calendar_not_ics: () => t`The calendar leads to a file that is not a calendar in iCal format (.ics).`,
  event_cut: () => t`the file ends in the middle of it`,
  event_invalid: () => t`it is not a valid event`,
  event_rule_invalid: () => t`its rule is not valid`,
  event_rule_unread: () => t`its rule can't be read`,
  event_property_unread: ({ name }) => t`its ${name} can't be read`,
  event_no_start: () => t`it has no start`,
  event_exrule: () => t`it excludes times by a rule (EXRULE), which is not supported`,
  event_uid_long: () => t`its UID is too long`,
  event_many_dates: ({ count }) =>
    plural(Number(count), { one: "it lists more than # date", other: "it lists more than # dates" }),
  event_not_date: ({ name }) => t`its ${name} is not a date or time`,
  event_no_such_date: ({ name }) => t`its ${name} is not a date or time that exists`,
  event_zone: ({ zone }) => t`its time zone "${zone}" is not known`,
  event_ends_first: () => t`it ends before it starts`,
  event_series_slow: () => t`the calendar's series take too long to work out`,
  event_frequent: () => t`it repeats every minute or second, or by an unknown rule`,
  event_rule_slow: () => t`its rule takes too long to work out`,
  event_too_often: () => t`it repeats too often`,
  event_until: () => t`the end of its series is not a date or time`,
  event_year: () => t`it is not in the years 1 to 9999`,
};
