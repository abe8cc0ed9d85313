import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import * as contract from "../../contract/calendars/calendars.ts";
import { call } from "./client/call.ts";

export type RecordingMeeting = contract.RecordingMeeting;

export type { Calendar, CalendarKind, Meeting } from "../../contract/calendars/calendars.ts";
export type NewCalendar = z.input<typeof contract.createCalendar.body>;

/** Calendars are read every 15 minutes, and the list shows when. */
export const calendarsQuery = queryOptions({
  queryKey: ["calendars"],
  refetchInterval: 30_000,
  queryFn: ({ signal }) => call(contract.listCalendars, { signal }),
});

/** The next meetings of today, in this browser's time zone. */
export const meetingsQuery = queryOptions({
  queryKey: ["meetings"],
  staleTime: 30_000,
  refetchInterval: 60_000,
  queryFn: ({ signal }) =>
    call(contract.listMeetings, {
      query: { time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone },
      signal,
    }),
});

export function meetingQuery(id: string) {
  return queryOptions({
    queryKey: ["meetings", id],
    staleTime: 0,
    queryFn: ({ signal }) => call(contract.getMeeting, { params: { meeting_id: id }, signal }),
  });
}

/** The calendars of a CalDAV account. */
export function discoverCalendars(body: z.input<typeof contract.discoverCalendars.body>) {
  return call(contract.discoverCalendars, { body });
}

export type FoundCalendar = z.output<typeof contract.discoverCalendars.response>["calendars"][number];

export function addCalendar(body: NewCalendar) {
  return call(contract.createCalendar, { body });
}

export function removeCalendar(id: string) {
  return call(contract.deleteCalendar, { params: { calendar_id: id } });
}

/** Saves the user's notes for a meeting. */
export function writeMeetingNotes(id: string, text: string) {
  return call(contract.updateMeeting, {
    params: { meeting_id: id },
    body: { notes: text.trim() === "" ? null : text },
  });
}

export function recordingMeetingKey(id: string): readonly string[] {
  return ["recording", id, "meeting"];
}

/**
 * Which meeting a recording is, and which it may be. For users who may change the recording.
 * @param updatedAt of the recording, which a match changes too: what was true before is asked for again.
 */
export function recordingMeetingQuery(id: string, updatedAt: string) {
  return queryOptions({
    queryKey: [...recordingMeetingKey(id), updatedAt],
    staleTime: 30_000,
    placeholderData: (previous: RecordingMeeting | undefined, query) =>
      query?.queryKey[1] === id ? previous : undefined,
    queryFn: ({ signal }) => call(contract.getRecordingMeeting, { params: { recording_id: id }, signal }),
  });
}

/** @param isChosen false: as Parley matches it, which gives invited users no access. */
export function chooseRecordingMeeting(id: string, meetingId: string, isChosen = true) {
  return call(contract.chooseRecordingMeeting, {
    params: { recording_id: id },
    body: { meeting_id: meetingId, is_chosen: isChosen },
  });
}

export function undoRecordingMeeting(id: string) {
  return call(contract.undoRecordingMeeting, { params: { recording_id: id } });
}
