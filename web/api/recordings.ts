import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type { Recording } from "../../contract/recordings/recordings.ts";
import type { listMeetingTypes, listTeams, listUsers } from "../../contract/workspace/directory.ts";
import { call } from "./client.ts";

export type RecordingBody = z.output<typeof Recording>;

const directoryStaleMs = 5 * 60_000;

export const usersQuery = queryOptions({
  queryKey: ["directory", "users"],
  staleTime: directoryStaleMs,
  queryFn: ({ signal }) => call<typeof listUsers>("POST", "/_/public-api/v2/users", { body: {}, signal }),
});

export const teamsQuery = queryOptions({
  queryKey: ["directory", "teams"],
  staleTime: directoryStaleMs,
  queryFn: ({ signal }) => call<typeof listTeams>("POST", "/_/public-api/v2/teams", { body: {}, signal }),
});

export const meetingTypesQuery = queryOptions({
  queryKey: ["directory", "meeting types"],
  staleTime: directoryStaleMs,
  queryFn: ({ signal }) =>
    call<typeof listMeetingTypes>("POST", "/_/public-api/v2/meeting_types", { body: {}, signal }),
});
