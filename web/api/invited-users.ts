import { useQuery } from "@tanstack/react-query";
import { listInvitedUsers } from "../../contract/workspace/invited-users.ts";
import { call } from "./client/call.ts";

/** Ids of users who have not accepted their invitation yet; empty until they are loaded. */
export function useInvitedUsers(): ReadonlySet<string> {
  const { data } = useQuery({
    queryKey: ["directory", "invited users"],
    staleTime: 60_000,
    queryFn: ({ signal }) => call(listInvitedUsers, { signal }),
  });
  return new Set(data?.user_ids);
}
