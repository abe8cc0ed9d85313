import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type { listMeetingTypes, listTeams, listUsers } from "../../contract/directory.ts";
import type { listRecordings } from "../../contract/recording-operations.ts";
import type { Recording } from "../../contract/recordings.ts";
import { call } from "./client.ts";

export type RecordingBody = z.output<typeof Recording>;

type RecordingPage = z.output<(typeof listRecordings)["response"]>;

/** Filters of the library, named as in its URL. */
export interface LibraryFilter {
  readonly title?: string | undefined;
  readonly team?: string | undefined;
  readonly type?: string | undefined;
  readonly scope?: "internal" | "external" | undefined;
  readonly attendance?: "hosted" | "attended" | undefined;
  /** Dates as `YYYY-MM-DD`, both inclusive. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Recordings with their participants, newest first. */
export function recordingsQuery(filter: LibraryFilter) {
  return infiniteQueryOptions({
    queryKey: ["recordings", filter],
    initialPageParam: null as string | null,
    getNextPageParam: (last: RecordingPage) => last.cursor,
    queryFn: ({ pageParam, signal }): Promise<RecordingPage> =>
      call<typeof listRecordings>("POST", "/_/public-api/v2/recordings", {
        signal,
        body: {
          ...(pageParam === null ? {} : { cursor: pageParam }),
          filter: toFilter(filter),
          include: { participants: true },
        },
      }),
  });
}

/**
 * By the contract `before_datetime` finds recordings that start after its value, `after_datetime` those that start at or
 * before it; for the web app this holds whatever PARLEY_DATETIME_FILTERS says. Days are in the browser's time zone.
 */
function toFilter({ title, team, type, scope, attendance, from, to }: LibraryFilter) {
  return {
    ...(title ? { title_search: title } : {}),
    ...(team ? { team } : {}),
    ...(type ? { meeting_type: type } : {}),
    ...(scope ? { participant_scope: scope } : {}),
    ...(attendance ? { attendance } : {}),
    ...(from ? { before_datetime: new Date(new Date(`${from}T00:00:00`).getTime() - 1).toISOString() } : {}),
    ...(to ? { after_datetime: new Date(`${to}T23:59:59.999`).toISOString() } : {}),
  };
}

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
