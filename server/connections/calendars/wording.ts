import type { calendarSentences } from "../../../contract/failures/calendars.ts";
import { type SentenceValues, sentenceOf } from "../../../contract/sentences.ts";

type CalendarCode = Extract<keyof typeof calendarSentences, `calendar_${string}`>;

/** What completes "The calendar …", without its period. */
export function aboutCalendar<Code extends CalendarCode>(code: Code, values: SentenceValues<Code>): string {
  return sentenceOf(code, values).slice("The calendar ".length, -1);
}
