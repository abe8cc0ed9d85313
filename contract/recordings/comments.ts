import { z } from "zod";
import { maxCommentLength, maxMentions } from "../../shared/mentions.ts";
import { CursorInput, Milliseconds, NextCursor, Success, Timestamp, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { User } from "../workspace/directory.ts";
import { RecordingParams } from "./recordings.ts";

/** Comments of a recording, with replies. */
export const maxComments = 1000;
/** Reactions to a comment, of all users together. */
export const maxReactions = 200;

const tag = "Comments";
const gate = "every_version";
const path = "/_/api/v1/comments/:comment_id";
const CommentParams = z.object({ comment_id: Uuid });
const writeErrors = ["invalid_json", "invalid_input", "body_too_large", "forbidden", "not_found"] as const;

export const Comment = z
  .strictObject({
    id: Uuid,
    recording_id: Uuid,
    parent_id: Uuid.nullable().meta({
      description: "The first comment of the thread; null for that comment.",
    }),
    author: User.nullable().meta({
      description: "null: the comment was deleted. It is listed without its text while it has replies.",
    }),
    text: z
      .string()
      .meta({ description: "Markdown of links and emphasis only. A mention is `@` and the name." }),
    timestamp: Milliseconds.nullable().meta({
      description:
        "Milliseconds from the start of the recording; null: about the whole recording, or a reply.",
    }),
    mentions: z.array(User).meta({ description: "The mentioned users." }),
    reactions: z
      .array(z.strictObject({ emoji: z.string(), user_ids: z.array(Uuid) }))
      .meta({ description: "Each emoji with the users who reacted with it, the earliest first." }),
    created_datetime: Timestamp,
    edited_datetime: Timestamp.nullable(),
    resolved_datetime: Timestamp.nullable().meta({
      description: "When the thread was resolved; null: it is open.",
    }),
    resolved_by: User.nullable(),
  })
  .meta({ id: "Comment" });
export type Comment = z.output<typeof Comment>;

const CommentText = z
  .string()
  .max(maxCommentLength)
  .refine((text) => text.trim() !== "", "must not be blank")
  .meta({ description: "Markdown of links and emphasis only." });

const Mentions = z.array(Uuid).max(maxMentions).meta({
  description:
    "Users to mention, who must be able to see the recording; 400 names those who can't. `@` and a user's full name in the text becomes the mention.",
});

/** Whether a text is one emoji, which may consist of several characters. */
export function isEmoji(text: string): boolean {
  return text.length <= 64 && /^\p{RGI_Emoji}$/v.test(text);
}

const ReactionParams = CommentParams.extend({
  emoji: z.string().meta({ description: "One emoji, percent-encoded.", example: "👍" }),
});

export const listComments = operation({
  id: "listComments",
  tag,
  gate,
  permission: "read",
  method: "GET",
  path: "/_/api/v1/recordings/:recording_id/comments",
  summary: "List Comments",
  description:
    "Lists the comments on a recording with their replies, oldest first, paginated. Allowed for everyone who can see the recording; visitors of public links never see them.",
  params: RecordingParams,
  query: z.object({ cursor: CursorInput.optional() }),
  response: z.strictObject({ comments: z.array(Comment), cursor: NextCursor }),
  errors: ["invalid_input", "invalid_cursor", "not_found"],
});

export const createComment = operation({
  id: "createComment",
  tag,
  gate,
  permission: "write",
  method: "POST",
  path: "/_/api/v1/recordings/:recording_id/comments",
  summary: "Create Comment",
  description: `Comments on a recording, or on a moment of it. Allowed for every user who can see the recording except viewers; a comment belongs to a user, so workspace tokens get 403. At most ${maxComments} per recording.`,
  params: RecordingParams,
  body: z.object({
    text: CommentText,
    timestamp: Milliseconds.optional().meta({
      description: "Milliseconds from the start of the recording. Left out: the whole recording.",
    }),
    parent_id: Uuid.optional().meta({
      description: "A comment of the thread to reply to, without a timestamp.",
    }),
    mentions: Mentions.optional(),
  }),
  response: Comment,
  errors: [...writeErrors, "wrong_state"],
});

export const updateComment = operation({
  id: "updateComment",
  tag,
  gate,
  permission: "write",
  method: "PATCH",
  path,
  summary: "Update Comment",
  description: "Changes the text of a comment. Allowed for its author, who must still see the recording.",
  params: CommentParams,
  body: z.object({
    text: CommentText,
    mentions: Mentions.optional().meta({ description: "Left out: the same users as before." }),
  }),
  response: Comment,
  errors: writeErrors,
});

export const deleteComment = operation({
  id: "deleteComment",
  tag,
  gate,
  permission: "write",
  method: "DELETE",
  path,
  summary: "Delete Comment",
  description:
    "Deletes a comment. Replies to it are kept. Allowed for its author, admins and workspace tokens that can see the recording.",
  params: CommentParams,
  response: Success,
  errors: ["forbidden", "not_found"],
});

export const resolveComment = operation({
  id: "resolveComment",
  tag,
  gate,
  permission: "write",
  method: "POST",
  path: `${path}/resolve`,
  summary: "Resolve Comment",
  description:
    "Resolves the thread of a comment, or opens it again. Allowed for every user who can comment. Returns the thread's first comment.",
  params: CommentParams,
  body: z.object({
    resolved: z.boolean().default(true).meta({ description: "false: open the thread again." }),
  }),
  response: Comment,
  errors: writeErrors,
});

export const addReaction = operation({
  id: "addReaction",
  tag,
  gate,
  permission: "write",
  method: "PUT",
  path: `${path}/reactions/:emoji`,
  summary: "Add Reaction",
  description: `Reacts to a comment with an emoji. Allowed for every user who can comment. At most ${maxReactions} per comment.`,
  params: ReactionParams,
  response: Comment,
  errors: ["invalid_input", "forbidden", "not_found", "wrong_state"],
});

export const removeReaction = operation({
  id: "removeReaction",
  tag,
  gate,
  permission: "write",
  method: "DELETE",
  path: `${path}/reactions/:emoji`,
  summary: "Remove Reaction",
  description: "Removes the caller's reaction with this emoji from a comment.",
  params: ReactionParams,
  response: Comment,
  errors: ["invalid_input", "forbidden", "not_found"],
});
