import { z } from "zod";
import { Milliseconds, Success, Timestamp, TimestampInput, Uuid } from "./common.ts";
import { User } from "./directory.ts";
import { HighlightParams } from "./highlight-operations.ts";
import { operation } from "./operation.ts";
import { RecordingParams } from "./recordings.ts";
import { StoryParams } from "./stories.ts";

/** What a link shows. */
export const PublicLinkKind = z.enum(["recording", "highlight", "story"]);

/**
 * A link that works for whoever has it, signed in or not, until it expires or is taken back. A recording has links only
 * while its `share_state` is `public`: becoming public makes the first, and leaving it takes all of them back for good.
 */
export const PublicLink = z
  .strictObject({
    id: Uuid,
    kind: PublicLinkKind,
    url: z.string().meta({ description: "The page, for whoever has the address." }),
    embed_url: z.string().meta({ description: "The same to be shown in a frame of another page." }),
    created_datetime: Timestamp,
    created_by: User.nullable().meta({ description: "null: a program, or somebody who is gone." }),
    expires_datetime: Timestamp.nullable().meta({
      description: "From then on it shows nothing; null: never.",
    }),
    has_password: z.boolean(),
    allow_download: z.boolean().meta({ description: "Whether the page offers the file." }),
    start: Milliseconds.nullable().meta({
      description: "Where playing begins, in milliseconds; of a recording's link alone.",
    }),
    last_opened_datetime: Timestamp.nullable().meta({ description: "To the hour; null: never." }),
    left_out: z.int().meta({
      description:
        "Highlights that it does not show, because nobody who may share their recording has agreed to it. 0 for a recording.",
    }),
  })
  .meta({ id: "PublicLink" });

const Expires = TimestampInput.nullable().meta({ description: "In the future; null: never." });
const Password = z.string().min(6, "must have at least 6 characters").max(200);

export const PublicLinkInput = z
  .object({
    expires_datetime: Expires.optional(),
    password: Password.nullable().optional().meta({ description: "null takes it away." }),
    allow_download: z.boolean().optional(),
    start: Milliseconds.nullable().optional(),
  })
  .meta({ id: "PublicLinkInput" });

/** The most links that one recording, highlight or story has. */
export const maxLinks = 200;

const PublicLinks = z.strictObject({ links: z.array(PublicLink).meta({ description: "Oldest first." }) });
const readErrors = ["forbidden", "not_found"] as const;
const writeErrors = ["invalid_json", "invalid_input", "body_too_large", "forbidden", "not_found"] as const;
const shared = { tag: "Public links", gate: "every_version" } as const;

export const listRecordingLinks = operation({
  ...shared,
  id: "listRecordingLinks",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/recordings/:recording_id/links",
  summary: "List Links of a Recording",
  description: "For those who may change its sharing: its recorders, admins and workspace tokens.",
  params: RecordingParams,
  response: PublicLinks,
  errors: readErrors,
});

export const createRecordingLink = operation({
  ...shared,
  id: "createRecordingLink",
  permission: "write",
  method: "POST",
  path: "/_/api/v1/recordings/:recording_id/links",
  summary: "Create Link of a Recording",
  description: `One more link to a public recording. A recording that is not public answers 409, and so does one with ${maxLinks} links.`,
  params: RecordingParams,
  body: PublicLinkInput,
  response: PublicLink,
  errors: [...writeErrors, "wrong_state"],
});

export const listHighlightLinks = operation({
  ...shared,
  id: "listHighlightLinks",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/highlights/:highlight_id/links",
  summary: "List Links of a Highlight",
  description: "For those who may share its recording.",
  params: HighlightParams,
  response: PublicLinks,
  errors: readErrors,
});

export const createHighlightLink = operation({
  ...shared,
  id: "createHighlightLink",
  permission: "write",
  method: "POST",
  path: "/_/api/v1/highlights/:highlight_id/links",
  summary: "Create Link of a Highlight",
  description:
    "Shows this part of the recording and nothing else of it, whatever the recording's share_state. For those who may share the recording.",
  params: HighlightParams,
  body: PublicLinkInput,
  response: PublicLink,
  errors: [...writeErrors, "wrong_state"],
});

export const listStoryLinks = operation({
  ...shared,
  id: "listStoryLinks",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/stories/:story_id/links",
  summary: "List Links of a Story",
  description: "For those who may edit the story, with how much of it a link that they make now would show.",
  params: StoryParams,
  response: PublicLinks.extend({
    highlights: z.int().meta({ description: "All that are in the story." }),
    shareable: z.int().meta({ description: "Those of recordings that the caller may share." }),
  }),
  errors: readErrors,
});

export const createStoryLink = operation({
  ...shared,
  id: "createStoryLink",
  permission: "write",
  method: "POST",
  path: "/_/api/v1/stories/:story_id/links",
  summary: "Create Link of a Story",
  description:
    "Shows the story with those of its highlights whose recordings the caller may share; `left_out` counts the others. The story becomes public.",
  params: StoryParams,
  body: PublicLinkInput,
  response: PublicLink,
  errors: [...writeErrors, "wrong_state"],
});

export const PublicLinkParams = z.object({ link_id: Uuid });

export const updatePublicLink = operation({
  ...shared,
  id: "updatePublicLink",
  permission: "write",
  method: "PATCH",
  path: "/_/api/v1/links/:link_id",
  summary: "Update Link",
  description:
    "Changes what is given and keeps the rest. A new password locks out whoever had the old one. What somebody else agreed to in a story is left out until they agree anew when the link becomes less strict.",
  params: PublicLinkParams,
  body: PublicLinkInput.extend({
    agree: z.literal(true).optional().meta({
      description:
        "Lets the link show the highlights as they are now, as far as the caller may share their recordings.",
    }),
  }),
  response: PublicLink,
  errors: writeErrors,
});

export const deletePublicLink = operation({
  ...shared,
  id: "deletePublicLink",
  permission: "write",
  method: "DELETE",
  path: "/_/api/v1/links/:link_id",
  summary: "Take Back Link",
  description: "At once, with the addresses of its media. The same address never works again.",
  params: PublicLinkParams,
  response: Success,
  errors: readErrors,
});

/** What is said, with times from the start of what is shown. */
export const SharedEntry = z.strictObject({
  speaker: z.string(),
  start: Milliseconds,
  end: Milliseconds,
  text: z.string(),
});

/** One thing that plays. Addresses are below the link's own and end with it. */
export const SharedItem = z
  .strictObject({
    id: z.string().meta({ description: "Names it within the link." }),
    title: z.string(),
    recording_title: z.string().nullable().meta({
      description: "Of a highlight: what it is cut from, where that recording is public itself.",
    }),
    start_datetime: Timestamp.nullable().meta({ description: "When it was recorded." }),
    duration: Milliseconds,
    speakers: z.array(z.string()),
    state: z.enum(["ready", "preparing", "failed", "transcript_only"]).meta({
      description: "preparing: the file of the highlight is being cut; ask again.",
    }),
    content_type: z.enum(["video/mp4", "audio/mpeg", "audio/mp4"]).nullable(),
    media_url: z.string().nullable(),
    thumbnail_url: z.string().nullable(),
    waveform_url: z.string().nullable(),
    storyboard: z
      .strictObject({
        index_url: z.string(),
        sheets: z.array(z.strictObject({ name: z.string(), url: z.string() })),
      })
      .nullable(),
    captions_url: z.string().nullable().meta({ description: "WebVTT." }),
    transcript_url: z.string().nullable().meta({ description: "Get Shared Transcript." }),
    download_url: z.string().nullable().meta({ description: "null where the link does not allow it." }),
  })
  .meta({ id: "SharedItem" });

/** What a link shows: no ids of the workspace's own, no email addresses, no notes. */
export const SharedView = z
  .strictObject({
    kind: PublicLinkKind,
    title: z.string(),
    description: z.string().nullable(),
    banner_image_url: z.string().nullable(),
    workspace: z.string().meta({ description: "Name of the workspace that shares it." }),
    start: Milliseconds.nullable(),
    expires_datetime: Timestamp.nullable(),
    items: z.array(SharedItem).meta({ description: "One; of a story its highlights in order." }),
  })
  .meta({ id: "SharedView" });

const Token = z.string().max(200);
/** What unlocking gave, for a link with a password. */
const Access = z.object({ access: z.string().max(500).optional() });
const openErrors = ["not_found", "link_expired", "password_required"] as const;

export const getShared = operation({
  ...shared,
  id: "getShared",
  permission: "anyone",
  method: "GET",
  path: "/_/api/v1/shared/:token",
  summary: "Get Shared",
  description: "What a public link shows. A link that was taken back answers as one that never was.",
  params: z.object({ token: Token }),
  query: Access,
  response: SharedView,
  errors: openErrors,
});

export const unlockShared = operation({
  ...shared,
  id: "unlockShared",
  permission: "anyone",
  method: "POST",
  path: "/_/api/v1/shared/:token/unlock",
  summary: "Unlock Shared",
  description:
    "Takes the password of a link and gives `access`, to be sent along with every other request of the link. The addresses in Get Shared have it in them.",
  params: z.object({ token: Token }),
  body: z.object({ password: z.string().max(200) }),
  response: z.strictObject({ access: z.string(), expires_datetime: Timestamp }),
  errors: [
    "invalid_json",
    "invalid_input",
    "body_too_large",
    "not_found",
    "link_expired",
    "password_wrong",
    "rate_limited",
    "forbidden",
  ],
});

export const getSharedTranscript = operation({
  ...shared,
  id: "getSharedTranscript",
  permission: "anyone",
  method: "GET",
  path: "/_/api/v1/shared/:token/items/:item_id/transcript",
  summary: "Get Shared Transcript",
  description: "What is said, and nothing of what is said before or after a highlight.",
  params: z.object({ token: Token, item_id: z.string().max(100) }),
  query: Access,
  response: z.strictObject({ entries: z.array(SharedEntry) }),
  errors: openErrors,
});
