import { notifications } from "@mantine/notifications";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { HighlightBody } from "../api/highlights.ts";
import { changeStory, type StoryBody, storyQuery } from "../api/stories.ts";

/** Which highlights a story has, and what changes that. */
export interface StoryOrder {
  /** In the order as the person left it, saved or not yet. */
  readonly highlights: readonly HighlightBody[];
  readonly ids: readonly string[];
  readonly save: (ids: readonly string[]) => Promise<unknown>;
}

/**
 * The list of a story. What the person did is shown at once and until the last of it is saved: an answer that was on its
 * way before says nothing of what they did since.
 */
export function useOrder(story: StoryBody): StoryOrder {
  const queryClient = useQueryClient();
  const { queryKey } = storyQuery(story.id);
  const mutationKey = ["story-order", story.id];
  const [unsaved, setUnsaved] = useState<readonly string[] | null>(null);
  const change = useMutation({
    mutationKey,
    // One after the other, in the order in which the person made them.
    scope: { id: `story-${story.id}` },
    mutationFn: (ids: readonly string[]) => changeStory(story.id, { highlight_ids: [...ids] }),
    onSuccess: async (saved) => {
      await queryClient.cancelQueries({ queryKey });
      queryClient.setQueryData(queryKey, saved);
    },
    onError: (error) => {
      notifications.show({ color: "red", title: "Not saved", message: error.message });
    },
    onSettled: async (_saved, error) => {
      // The one that settles still counts.
      if (queryClient.isMutating({ mutationKey }) > 1) return;
      if (error !== null) await queryClient.invalidateQueries({ queryKey });
      setUnsaved(null);
      void queryClient.invalidateQueries({ queryKey: ["stories", "list"] });
    },
  });
  const ids = unsaved ?? story.highlights.map(({ id }) => id);
  return {
    ids,
    highlights: ids.flatMap((id) => story.highlights.find((one) => one.id === id) ?? []),
    save: (next) => {
      setUnsaved(next);
      return change.mutateAsync(next).catch(() => undefined);
    },
  };
}
