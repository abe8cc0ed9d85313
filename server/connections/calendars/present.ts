import type { z } from "zod";
import type * as contract from "../../../contract/calendars/calendars.ts";
import type { MeetingRow } from "./queries.ts";

export function presentMeeting(row: Omit<MeetingRow, "key">): z.input<typeof contract.Meeting> {
  const { organizer } = row;
  const attendees = row.attendees
    .filter(({ declined }) => declined !== true)
    .map(({ name, email }) => ({ name, email }));
  const isListed =
    organizer === null ||
    row.attendees.some(({ email }) => email?.toLowerCase() === organizer.email?.toLowerCase());
  return {
    id: row.id,
    calendar_id: row.calendar_id,
    ical_uid: row.ical_uid,
    title: row.title,
    start_datetime: row.start_at.toISOString(),
    end_datetime: row.end_at.toISOString(),
    is_private: row.is_private,
    organizer,
    attendees: isListed || organizer === null ? attendees : [organizer, ...attendees],
    notes: row.notes,
    recording_id: row.recording_id,
  };
}
