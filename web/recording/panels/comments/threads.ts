import type { Comment } from "../../../api/recording/comments.ts";
import type { CommentMark } from "../../../player/context.ts";

/** A user as comments name them. */
export type User = Comment["mentions"][number];

/** A first comment with its replies, oldest first. */
export interface Thread {
  readonly root: Comment;
  readonly replies: readonly Comment[];
}

/** The threads of a recording's comments: those on the whole recording, then by moment. */
export function threadsOf(comments: readonly Comment[]): Thread[] {
  const replies = Map.groupBy(comments, ({ parent_id }) => parent_id);
  return (replies.get(null) ?? [])
    .map((root) => ({ root, replies: replies.get(root.id) ?? [] }))
    .sort((a, b) => (a.root.timestamp ?? -1) - (b.root.timestamp ?? -1));
}

export function isOpen({ root }: Thread): boolean {
  return root.resolved_datetime === null;
}

/** The mark of a thread on the seek bar and in the transcript, if it is about a moment. */
export function markOf({ root: { id, author, text, timestamp } }: Thread): CommentMark[] {
  return timestamp === null ? [] : [{ id, author: author === null ? null : author.name, text, timestamp }];
}
