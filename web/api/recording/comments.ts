import { queryOptions } from "@tanstack/react-query";
import { type Comment, listComments } from "../../../contract/recordings/comments.ts";
import { call } from "../client/call.ts";

export type { Comment };

/** Lists up to this long are polled as often as wanted, longer ones less often. */
const polledComments = 50;

/** Where the server's stream, which says when they change, doesn't arrive. */
const pollMs = 60_000;

/** All comments on a recording, oldest first. */
export function commentsQuery(id: string) {
  return queryOptions({
    queryKey: ["recording", id, "comments"],
    queryFn: async ({ signal }): Promise<Comment[]> => {
      const comments: Comment[] = [];
      let cursor: string | null = null;
      do {
        const page: { comments: Comment[]; cursor: string | null } = await call(listComments, {
          params: { recording_id: id },
          query: { cursor },
          signal,
        });
        comments.push(...page.comments);
        cursor = page.cursor;
      } while (cursor !== null);
      return comments;
    },
    refetchInterval: ({ state }) => pollMs * Math.max(1, (state.data?.length ?? 0) / polledComments),
  });
}
