import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import * as contract from "../../contract/recordings/stories.ts";
import { call, urlOf } from "./client/call.ts";

export type StoryBody = z.output<typeof contract.ReadStory>;

type StoryPage = z.output<(typeof contract.listStories)["response"]>;

/** The workspace's stories, newest first. */
export const storiesQuery = infiniteQueryOptions({
  queryKey: ["stories", "list"],
  initialPageParam: null as string | null,
  getNextPageParam: (last: StoryPage) => last.cursor,
  queryFn: ({ pageParam, signal }): Promise<StoryPage> =>
    call(contract.listStories, { signal, query: { cursor: pageParam } }),
});

export function storyQuery(storyId: string) {
  return queryOptions({
    queryKey: ["stories", "one", storyId],
    queryFn: ({ signal }) => call(contract.getStory, { params: { story_id: storyId }, signal }),
  });
}

/** Where this server serves the image of a story. The image's own URL is added so that a new image is loaded. */
export function bannerUrl(storyId: string, url: string): string {
  const params = { story_id: storyId };
  return `${urlOf(contract.getStoryBanner, { params })}?${new URLSearchParams({ of: url })}`;
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
  return call(contract.createStory, { body });
}

/** `highlight_ids` is the whole new list. */
export function updateStory(
  storyId: string,
  body: Partial<StoryFields> & { highlight_ids?: string[] },
): Promise<StoryBody> {
  return call(contract.updateStory, { params: { story_id: storyId }, body });
}

export function deleteStory(storyId: string) {
  return call(contract.deleteStory, { params: { story_id: storyId } });
}

/** Total duration of a story's highlights, in milliseconds. */
export function lengthOf({ highlights }: { highlights: readonly { readonly duration: number }[] }): number {
  return highlights.reduce((total, { duration }) => total + duration, 0);
}
