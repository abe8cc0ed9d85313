import { z } from "zod";
import { CursorInput, NextCursor, Success, Timestamp, Uuid } from "./common.ts";
import { TagList } from "./highlight-operations.ts";
import { Highlight } from "./highlights.ts";
import { operation } from "./operation.ts";

/** Highlights of one or more recordings, put together to be told. Source: design, "Highlight, story". */
export const Story = z
  .strictObject({
    id: Uuid,
    title: z.string(),
    description: z.string(),
    url: z.string().meta({ description: "Link to the story in the service." }),
    public_url: z
      .string()
      .nullable()
      .meta({ description: "Link that works for anybody who has it; null when the story is not public." }),
    banner_image_url: z.string().nullable(),
    created_datetime: Timestamp,
    last_edited_datetime: Timestamp,
    tags: z.array(z.string()),
    highlights: z.array(Highlight).meta({
      description: "In their order; only those of recordings that the reader may see.",
    }),
  })
  .meta({ id: "Story" });

/** A story as the API answers it: what its reader may do with it is no part of the story, and of no event. */
export const ReadStory = Story.extend({
  can_change: z.boolean().meta({ description: "Whether the caller may change and delete it." }),
}).meta({ id: "ReadStory" });

export const StoryParams = z.object({ story_id: Uuid });

const StoryTitle = z.string().trim().min(1, "must not be blank").max(500);
const StoryDescription = z.string().max(10_000);

function isWebAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
}

const BannerImageUrl = z
  .string()
  .max(2000)
  .refine((text) => text === "" || isWebAddress(text), "must be an http or https address")
  .meta({ description: "Address of a picture; an empty text takes it away." });

/** The story's highlights in order. */
const HighlightIds = z
  .array(Uuid)
  .max(200)
  .meta({ description: "Ids of highlights in their order; the token must see each of them." });

const IsPublic = z.boolean().meta({
  description:
    "true gives the story a `public_url`; false takes it back for good: made public again, it gets another.",
});

export const listStories = operation({
  id: "listStories",
  tag: "Stories",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/stories",
  summary: "List Stories",
  description: "The workspace's stories, newest first, a page at a time.",
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
  description: "Puts highlights together. Everybody of the workspace sees the story.",
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
  description: "One story.",
  params: StoryParams,
  response: ReadStory,
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
    "Changes a story; what is left out stays. Whoever made it, admins and workspace tokens may. `highlight_ids` is the whole new list; highlights that the token can't see stay where they are.",
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
  description: "Removes a story; its highlights stay. Who may change it may delete it.",
  params: StoryParams,
  response: Success,
  errors: ["forbidden", "not_found"],
});
