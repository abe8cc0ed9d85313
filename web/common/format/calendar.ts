import { t } from "@lingui/core/macro";
import { perLocale } from "./locale.ts";

/** What `getWeekInfo` returns, 7 for Sunday. Source: https://tc39.es/ecma402/. */
interface WeekInfo {
  readonly firstDay: number;
  readonly weekend: readonly number[];
}

const weekdays = [0, 1, 2, 3, 4, 5, 6] as const;
const monday: WeekInfo = { firstDay: 1, weekend: [6, 7] };

function weekOf(locale: string): WeekInfo {
  // Firefox has no such method.
  const of: Intl.Locale & { getWeekInfo?: () => WeekInfo } = new Intl.Locale(locale);
  return of.getWeekInfo?.() ?? monday;
}

/** Reads a date of a picker, which is local: `2026-11-28` or `2026-11-28 14:05:00`. */
function localDate(text: string): Date {
  return new Date(text.includes(" ") ? text.replace(" ", "T") : `${text}T00:00`);
}

const formats = perLocale((locale) => {
  const format = (options: Intl.DateTimeFormatOptions) => {
    const { format: run } = new Intl.DateTimeFormat(locale, options);
    return (text: string) => run(localDate(text));
  };
  const { firstDay, weekend } = weekOf(locale);
  const hours = new Intl.DateTimeFormat(locale, { hour: "numeric", minute: "2-digit" });
  const half = (hour: number) =>
    hours.formatToParts(new Date(2026, 0, 1, hour)).find(({ type }) => type === "dayPeriod")?.value;
  return {
    firstDayOfWeek: weekdays[firstDay % 7] ?? 1,
    weekendDays: weekend.flatMap((one) => weekdays[one % 7] ?? []),
    weekdayFormat: format({ weekday: "short" }),
    monthLabelFormat: format({ month: "long", year: "numeric" }),
    monthsListFormat: format({ month: "short" }),
    dayLabel: format({ dateStyle: "long" }),
    range: new Intl.DateTimeFormat(locale, { dateStyle: "medium" }),
    minutes: format({ dateStyle: "medium", timeStyle: "short" }),
    seconds: format({ dateStyle: "medium", timeStyle: "medium" }),
    timePicker: {
      format: hours.resolvedOptions().hour12 === true ? ("12h" as const) : ("24h" as const),
      amPmLabels: { am: half(1) ?? "AM", pm: half(13) ?? "PM" },
    },
  };
});

/** Properties of each of Mantine's calendars: its language, and accessible names for its arrow buttons, which have none. */
function calendarProps() {
  const { firstDayOfWeek, weekendDays, weekdayFormat, monthLabelFormat, monthsListFormat, dayLabel } =
    formats();
  return {
    firstDayOfWeek,
    weekendDays,
    weekdayFormat,
    monthLabelFormat,
    monthsListFormat,
    getDayAriaLabel: dayLabel,
    ariaLabels: {
      monthLevelControl: t`Choose month`,
      yearLevelControl: t`Choose year`,
      nextMonth: t`Next month`,
      previousMonth: t`Previous month`,
      nextYear: t`Next year`,
      previousYear: t`Previous year`,
      nextDecade: t`Next decade`,
      previousDecade: t`Previous decade`,
    },
  };
}

/** Properties of a picker of a range of days. */
export function daysPickerProps() {
  return {
    ...calendarProps(),
    valueFormatter: ({ date }: { date: unknown }) => {
      const [from, to] = Array.isArray(date) ? date.map((one) => (one === null ? null : localDate(one))) : [];
      if (!from) return "";
      return to ? formats().range.formatRange(from, to) : `${formats().range.format(from)} – `;
    },
  };
}

/** Properties of a picker of a date and time. */
export function timePickerProps({ withSeconds = false } = {}) {
  const { minutes, seconds, timePicker } = formats();
  return {
    ...calendarProps(),
    withSeconds,
    valueFormat: withSeconds ? seconds : minutes,
    submitButtonProps: { "aria-label": t`Apply` },
    timePickerProps: {
      ...timePicker,
      hoursInputLabel: t`Hours`,
      minutesInputLabel: t`Minutes`,
      secondsInputLabel: t`Seconds`,
      amPmInputLabel: t`AM or PM`,
    },
  };
}
