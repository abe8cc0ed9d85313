import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type { Recording } from "../../contract/recordings/recordings.ts";
import { listMeetingTypes, listTeams, listUsers } from "../../contract/workspace/directory.ts";
import { call } from "./client/call.ts";

export type RecordingBody = z.output<typeof Recording>;

const directoryStaleMs = 5 * 60_000;

/** Users search for people just after an admin invited them, so they are stale as soon as most data is. */
export const usersQuery = queryOptions({
  queryKey: ["directory", "users"],
  queryFn: ({ signal }) => call(listUsers, { body: {}, signal }),
});

export const teamsQuery = queryOptions({
  queryKey: ["directory", "teams"],
  staleTime: directoryStaleMs,
  queryFn: ({ signal }) => call(listTeams, { body: {}, signal }),
});

export const meetingTypesQuery = queryOptions({
  queryKey: ["directory", "meeting types"],
  staleTime: directoryStaleMs,
  queryFn: ({ signal }) => call(listMeetingTypes, { body: {}, signal }),
});
