import type { QueryClient } from "@tanstack/react-query";
import {
  addReaction,
  type Comment,
  createComment,
  deleteComment,
  removeReaction,
  resolveComment,
  updateComment,
} from "../../../contract/recordings/comments.ts";
import { type Body, call } from "../client/call.ts";
import { commentsQuery } from "./comments.ts";

/** Requests that change the comments on a recording, and show the result. All throw ApiError. */
export function commentActions(client: QueryClient, id: string) {
  const { queryKey } = commentsQuery(id);
  const shown = async (changed: Promise<Comment>): Promise<Comment> => {
    const comment = await changed;
    // A list that was read before the change must not replace the new one.
    await client.cancelQueries({ queryKey });
    client.setQueryData(queryKey, (comments) =>
      comments?.some((one) => one.id === comment.id)
        ? comments.map((one) => (one.id === comment.id ? comment : one))
        : comments?.concat(comment),
    );
    return comment;
  };
  return {
    create: (body: Body<typeof createComment>) =>
      shown(call(createComment, { params: { recording_id: id }, body })),
    update: (comment_id: string, body: Body<typeof updateComment>) =>
      shown(call(updateComment, { params: { comment_id }, body })),
    resolve: (comment_id: string, resolved: boolean) =>
      shown(call(resolveComment, { params: { comment_id }, body: { resolved } })),
    react: (comment_id: string, emoji: string, isOn: boolean) =>
      shown(call(isOn ? addReaction : removeReaction, { params: { comment_id, emoji } })),
    delete: async (comment_id: string) => {
      await call(deleteComment, { params: { comment_id } });
      await client.invalidateQueries({ queryKey });
    },
  };
}
