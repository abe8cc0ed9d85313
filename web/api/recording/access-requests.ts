import { queryOptions } from "@tanstack/react-query";
import {
  declineAccess,
  grantAccess,
  listAccessRequests,
  requestAccess,
} from "../../../contract/sharing/access-requests.ts";
import { call } from "../client/call.ts";

/** The users who request access to a recording. */
export function accessRequestsQuery(recordingId: string, isEnabled: boolean) {
  return queryOptions({
    queryKey: ["recording", recordingId, "access-requests"],
    enabled: isEnabled,
    staleTime: 60_000,
    queryFn: ({ signal }) => call(listAccessRequests, { params: { recording_id: recordingId }, signal }),
  });
}

/** Asks the owners of a recording for access. Succeeds whether or not there is such a recording. */
export function sendAccessRequest(recordingId: string) {
  return call(requestAccess, { params: { recording_id: recordingId } });
}

export function grantRequest(recordingId: string, userId: string) {
  return call(grantAccess, { params: { recording_id: recordingId, user_id: userId } });
}

export function declineRequest(recordingId: string, userId: string) {
  return call(declineAccess, { params: { recording_id: recordingId, user_id: userId } });
}
