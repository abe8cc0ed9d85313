import { queryOptions } from "@tanstack/react-query";
import type {
  declineAccess,
  grantAccess,
  listAccessRequests,
  requestAccess,
} from "../../contract/recordings/access-requests.ts";
import { call, path } from "./client.ts";

const base = (recordingId: string): string => path`/_/api/v1/recordings/${recordingId}/access-requests`;

/** The users who request access to a recording. */
export function accessRequestsQuery(recordingId: string, isEnabled: boolean) {
  return queryOptions({
    queryKey: ["recording", recordingId, "access-requests"],
    enabled: isEnabled,
    staleTime: 60_000,
    queryFn: ({ signal }) => call<typeof listAccessRequests>("GET", base(recordingId), { signal }),
  });
}

/** Asks the owners of a recording for access. Succeeds whether or not there is such a recording. */
export function sendAccessRequest(recordingId: string) {
  return call<typeof requestAccess>("POST", base(recordingId));
}

export function grantRequest(recordingId: string, userId: string) {
  return call<typeof grantAccess>("POST", base(recordingId) + path`/${userId}`);
}

export function declineRequest(recordingId: string, userId: string) {
  return call<typeof declineAccess>("DELETE", base(recordingId) + path`/${userId}`);
}
