import { z } from "zod";
import { Milliseconds, Success, Timestamp, TimestampInput, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { HighlightParams } from "../recordings/highlight-operations.ts";
import { RecordingParams } from "../recordings/recordings.ts";
import { StoryParams } from "../recordings/stories.ts";
import { User } from "../workspace/directory.ts";

export const PublicLinkKind = z.enum(["recording", "highlight", "story"]);

/**
 * A link that works for anyone who has it, until it expires or is revoked. A recording has links only while its
 * `share_state` is `public`: publishing creates the first link, unpublishing revokes all of them permanently.
 */
export const PublicLink = z
  .strictObject({
    id: Uuid,
    kind: PublicLinkKind,
    url: z.string().meta({ description: "URL of the page." }),
    embed_url: z.string().meta({ description: "URL of the page for embedding in other sites." }),
    created_datetime: Timestamp,
    created_by: User.nullable().meta({
      description: "null: created with a workspace token, or by a deleted user.",
    }),
    expires_datetime: Timestamp.nullable().meta({
      description: "When it expires; null: never.",
    }),
    has_password: z.boolean(),
    allow_download: z.boolean().meta({ description: "Whether visitors can download the file." }),
    include_summary: z.boolean().meta({
      description: "Whether visitors see the recording's summary and chapters.",
    }),
    start: Milliseconds.nullable().meta({
      description: "Start position in milliseconds; only for links of recordings.",
    }),
    last_opened_datetime: Timestamp.nullable().meta({ description: "Accurate to the hour; null: never." }),
    left_out: z.int().meta({
      description:
        "Number of highlights that it does not show, because no one who may share their recording has approved them. 0 for a recording.",
    }),
  })
  .meta({ id: "PublicLink" });

const Expires = TimestampInput.nullable().meta({ description: "Must be in the future; null: never." });
const Password = z.string().min(6, "must have at least 6 characters").max(200);

export const PublicLinkInput = z
  .strictObject({
    expires_datetime: Expires.optional(),
    password: Password.nullable().optional().meta({ description: "null removes it." }),
    allow_download: z.boolean().optional(),
    include_summary: z.boolean().optional().meta({ description: "Only for links of recordings." }),
    start: Milliseconds.nullable().optional(),
  })
  .meta({ id: "PublicLinkInput" });

/** Maximum number of links per recording, highlight or story. */
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
  description:
    "Lists a recording's links. Allowed for those who may change its sharing: its recorders, admins and workspace tokens.",
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
  description: `Creates another link to a public recording. Returns 409 if the recording is not public or has ${maxLinks} links already.`,
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
  description: "Lists a highlight's links. Allowed for those who may share its recording.",
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
    "Creates a link to a highlight. It shows only this part of the recording, whatever the recording's share_state. Allowed for those who may share the recording.",
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
  description:
    "Lists a story's links, and how many of its highlights a link created by the caller would show. Allowed for those who may edit the story.",
  params: StoryParams,
  response: PublicLinks.extend({
    highlights: z.int().meta({ description: "Number of highlights in the story." }),
    shareable: z.int().meta({ description: "Number of highlights of recordings that the caller may share." }),
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
    "Creates a link to a story and makes the story public. It shows the highlights whose recordings the caller may share; `left_out` counts the others.",
  params: StoryParams,
  body: PublicLinkInput,
  response: PublicLink,
  errors: [...writeErrors, "wrong_state"],
});

const PublicLinkParams = z.object({ link_id: Uuid });

export const updatePublicLink = operation({
  ...shared,
  id: "updatePublicLink",
  permission: "write",
  method: "PATCH",
  path: "/_/api/v1/links/:link_id",
  summary: "Update Link",
  description:
    "Changes a link. Fields that are left out keep their values. Visitors who entered an earlier password must enter the new one. If a story's link becomes less restrictive, highlights that other users approved are left out until they approve them again.",
  params: PublicLinkParams,
  body: PublicLinkInput.extend({
    agree: z.literal(true).optional().meta({
      description: "Approves the link's current highlights of recordings that the caller may share.",
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
  summary: "Revoke Link",
  description: "Revokes a link and its media URLs immediately and permanently.",
  params: PublicLinkParams,
  response: Success,
  errors: readErrors,
});

/** A line of the transcript, with times from the start of the shared part. */
const SharedEntry = z.strictObject({
  speaker: z.string(),
  start: Milliseconds,
  end: Milliseconds,
  text: z.string(),
});

/** One playable item. Its URLs expire with the link. */
export const SharedItem = z
  .strictObject({
    id: z.string().meta({ description: "Id within the link." }),
    title: z.string(),
    recording_title: z.string().nullable().meta({
      description: "For a highlight, its recording's title if that recording is public.",
    }),
    start_datetime: Timestamp.nullable().meta({ description: "When the recording started." }),
    duration: Milliseconds,
    speakers: z.array(z.string()),
    summary: z.string().nullable().meta({
      description: "Markdown; null if the link does not include it, or there is none.",
    }),
    chapters: z.array(z.strictObject({ title: z.string(), start: Milliseconds })).meta({
      description: "Empty if the link does not include the summary.",
    }),
    state: z.enum(["ready", "preparing", "failed", "transcript_only"]).meta({
      description: "preparing: the highlight's clip is being rendered; try again later.",
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
    transcript_url: z.string().nullable().meta({ description: "URL of Get Shared Transcript." }),
    download_url: z.string().nullable().meta({ description: "null if the link does not allow downloads." }),
  })
  .meta({ id: "SharedItem" });

/** What visitors of a link get: no internal ids, email addresses or notes. */
export const SharedView = z
  .strictObject({
    kind: PublicLinkKind,
    title: z.string(),
    description: z.string().nullable(),
    banner_image_url: z.string().nullable(),
    workspace: z.string().meta({ description: "Name of the workspace." }),
    start: Milliseconds.nullable(),
    expires_datetime: Timestamp.nullable(),
    items: z.array(SharedItem).meta({ description: "One item; for a story, its highlights in order." }),
  })
  .meta({ id: "SharedView" });

const Token = z.string().max(200);
/** Issued by Unlock Shared for a link with a password. */
const Access = z.object({ access: z.string().max(500).optional() });
const openErrors = ["not_found", "link_expired", "password_required"] as const;

export const getShared = operation({
  ...shared,
  id: "getShared",
  permission: "anyone",
  method: "GET",
  path: "/_/api/v1/shared/:token",
  summary: "Get Shared",
  description:
    "Returns what a public link shows. A revoked link returns the same 404 as one that never existed.",
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
    "Checks a link's password and returns `access`, a parameter for the link's other requests. The URLs in Get Shared contain it.",
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
  description: "Returns the transcript of an item; for a highlight, only its part.",
  params: z.object({ token: Token, item_id: z.string().max(100) }),
  query: Access,
  response: z.strictObject({ entries: z.array(SharedEntry) }),
  errors: openErrors,
});
