import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type {
  createStory,
  deleteStory,
  getStory,
  listStories,
  ReadStory,
  updateStory,
} from "../../contract/stories.ts";
import { call, path } from "./client.ts";

export type StoryBody = z.output<typeof ReadStory>;

type StoryPage = z.output<(typeof listStories)["response"]>;

/** The workspace's stories, newest first, page by page. */
export const storiesQuery = infiniteQueryOptions({
  queryKey: ["stories", "list"],
  initialPageParam: null as string | null,
  getNextPageParam: (last: StoryPage) => last.cursor,
  queryFn: ({ pageParam, signal }): Promise<StoryPage> =>
    call<typeof listStories>("GET", "/_/api/v1/stories", { signal, query: { cursor: pageParam } }),
});

export function storyQuery(storyId: string) {
  return queryOptions({
    queryKey: ["stories", "one", storyId],
    queryFn: ({ signal }) => call<typeof getStory>("GET", path`/_/api/v1/stories/${storyId}`, { signal }),
  });
}

/** What of a story people write. */
export interface StoryWords {
  readonly title: string;
  readonly description: string;
  readonly tags: string[];
  /** Address of a picture; empty for none. */
  readonly banner_image_url?: string;
}

export function makeStory(body: StoryWords & { highlight_ids?: string[] }): Promise<StoryBody> {
  return call<typeof createStory>("POST", "/_/api/v1/stories", { body });
}

/** `highlight_ids` is the whole new list. */
export function changeStory(
  storyId: string,
  body: Partial<StoryWords> & { highlight_ids?: string[] },
): Promise<StoryBody> {
  return call<typeof updateStory>("PATCH", path`/_/api/v1/stories/${storyId}`, { body });
}

export function removeStory(storyId: string) {
  return call<typeof deleteStory>("DELETE", path`/_/api/v1/stories/${storyId}`);
}

/** How long a story's clips are together, in milliseconds. */
export function lengthOf({ highlights }: { highlights: readonly { readonly duration: number }[] }): number {
  return highlights.reduce((total, { duration }) => total + duration, 0);
}
