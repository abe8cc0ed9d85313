import { z } from "zod";
import { CursorInput, NextCursor, Success, Timestamp, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { TagList } from "./highlight-operations.ts";
import { Highlight } from "./highlights.ts";

/** An ordered collection of highlights from one or more recordings. Source: design, "Highlight, story". */
export const Story = z
  .strictObject({
    id: Uuid,
    title: z.string(),
    description: z.string(),
    url: z.string().meta({ description: "Link to the story in the service." }),
    public_url: z
      .string()
      .nullable()
      .meta({ description: "Link that works without signing in; null if the story is not public." }),
    banner_image_url: z.string().nullable(),
    created_datetime: Timestamp,
    last_edited_datetime: Timestamp,
    tags: z.array(z.string()),
    highlights: z.array(Highlight).meta({
      description: "In order; only highlights of recordings that the caller can see.",
    }),
  })
  .meta({ id: "Story" });

/** A story in responses. Events leave out `can_change`, which depends on the caller. */
export const ReadStory = Story.extend({
  can_change: z.boolean().meta({ description: "Whether the caller may edit and delete it." }),
}).meta({ id: "ReadStory" });

export const StoryParams = z.object({ story_id: Uuid });

const StoryTitle = z.string().trim().min(1, "must not be blank").max(500);
const StoryDescription = z.string().max(10_000);

function isWebUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
}

const BannerImageUrl = z
  .string()
  .max(2000)
  .refine((text) => text === "" || isWebUrl(text), "must be an http or https URL")
  .meta({
    description: "URL of an image, which this server downloads and serves; an empty string removes it.",
  });

const HighlightIds = z
  .array(Uuid)
  .max(200)
  .meta({ description: "Ids of highlights in order; the token must be able to see each of them." });

const IsPublic = z.boolean().meta({
  description:
    "true creates a `public_url`; false revokes it permanently. Publishing again creates another URL.",
});

export const listStories = operation({
  id: "listStories",
  tag: "Stories",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/stories",
  summary: "List Stories",
  description: "Lists the workspace's stories, newest first, paginated.",
  query: z.object({ cursor: CursorInput.optional() }),
  response: z.strictObject({ stories: z.array(ReadStory), cursor: NextCursor }),
  errors: ["invalid_input", "invalid_cursor"],
});

export const createStory = operation({
  id: "createStory",
  tag: "Stories",
  gate: "every_version",
  permission: "write",
  method: "POST",
  path: "/_/api/v1/stories",
  summary: "Create Story",
  description: "Creates a story of highlights. All workspace members can see it.",
  body: z.object({
    title: StoryTitle,
    description: StoryDescription.optional(),
    banner_image_url: BannerImageUrl.optional(),
    tags: TagList.optional(),
    highlight_ids: HighlightIds.optional(),
    public: IsPublic.optional(),
  }),
  response: ReadStory,
  errors: ["invalid_json", "invalid_input", "body_too_large"],
});

export const getStory = operation({
  id: "getStory",
  tag: "Stories",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/stories/:story_id",
  summary: "Get Story",
  description: "Returns a story.",
  params: StoryParams,
  response: ReadStory,
  errors: ["not_found"],
});

export const getStoryBanner = operation({
  id: "getStoryBanner",
  tag: "Stories",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/stories/:story_id/banner",
  summary: "Get Story Banner",
  description:
    "Returns the image at `banner_image_url` (PNG, JPEG, GIF, WebP or AVIF of at most 2 MiB), downloaded by this server so that viewers' browsers don't contact the other site.",
  params: StoryParams,
  response: { contentType: "image/*", description: "The image." },
  errors: ["not_found"],
});

export const updateStory = operation({
  id: "updateStory",
  tag: "Stories",
  gate: "every_version",
  permission: "write",
  method: "PATCH",
  path: "/_/api/v1/stories/:story_id",
  summary: "Update Story",
  description:
    "Changes a story. Fields that are left out keep their values. Allowed for its creator, admins and workspace tokens. `highlight_ids` is the complete new list; highlights that the token can't see keep their positions.",
  params: StoryParams,
  body: z.object({
    title: StoryTitle.optional(),
    description: StoryDescription.optional(),
    banner_image_url: BannerImageUrl.optional(),
    tags: TagList.optional(),
    highlight_ids: HighlightIds.optional(),
    public: IsPublic.optional(),
  }),
  response: ReadStory,
  errors: ["invalid_json", "invalid_input", "body_too_large", "forbidden", "not_found"],
});

export const deleteStory = operation({
  id: "deleteStory",
  tag: "Stories",
  gate: "every_version",
  permission: "write",
  method: "DELETE",
  path: "/_/api/v1/stories/:story_id",
  summary: "Delete Story",
  description: "Deletes a story; its highlights are kept. Allowed for those who can edit it.",
  params: StoryParams,
  response: Success,
  errors: ["forbidden", "not_found"],
});
