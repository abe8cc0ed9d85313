import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type * as contract from "../../contract/recordings/stories.ts";
import { call, path } from "./client.ts";

export type StoryBody = z.output<typeof contract.ReadStory>;

type StoryPage = z.output<(typeof contract.listStories)["response"]>;

/** The workspace's stories, newest first. */
export const storiesQuery = infiniteQueryOptions({
  queryKey: ["stories", "list"],
  initialPageParam: null as string | null,
  getNextPageParam: (last: StoryPage) => last.cursor,
  queryFn: ({ pageParam, signal }): Promise<StoryPage> =>
    call<typeof contract.listStories>("GET", "/_/api/v1/stories", { signal, query: { cursor: pageParam } }),
});

export function storyQuery(storyId: string) {
  return queryOptions({
    queryKey: ["stories", "one", storyId],
    queryFn: ({ signal }) =>
      call<typeof contract.getStory>("GET", path`/_/api/v1/stories/${storyId}`, { signal }),
  });
}

/** The fields of a story that users edit. */
export interface StoryFields {
  readonly title: string;
  readonly description: string;
  readonly tags: string[];
  /** URL of the cover image; empty for none. */
  readonly banner_image_url?: string;
}

export function createStory(body: StoryFields & { highlight_ids?: string[] }): Promise<StoryBody> {
  return call<typeof contract.createStory>("POST", "/_/api/v1/stories", { body });
}

/** `highlight_ids` is the whole new list. */
export function updateStory(
  storyId: string,
  body: Partial<StoryFields> & { highlight_ids?: string[] },
): Promise<StoryBody> {
  return call<typeof contract.updateStory>("PATCH", path`/_/api/v1/stories/${storyId}`, { body });
}

export function deleteStory(storyId: string) {
  return call<typeof contract.deleteStory>("DELETE", path`/_/api/v1/stories/${storyId}`);
}

/** Total duration of a story's highlights, in milliseconds. */
export function lengthOf({ highlights }: { highlights: readonly { readonly duration: number }[] }): number {
  return highlights.reduce((total, { duration }) => total + duration, 0);
}
