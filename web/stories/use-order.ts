import { useLingui } from "@lingui/react/macro";
import { notifications } from "@mantine/notifications";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { HighlightBody } from "../api/highlights.ts";
import { type StoryBody, storyQuery, updateStory } from "../api/stories.ts";

/** A story's highlights, and how to change them. */
export interface StoryOrder {
  /** In the user's order, saved or not. */
  readonly highlights: readonly HighlightBody[];
  readonly ids: readonly string[];
  readonly save: (ids: readonly string[]) => Promise<unknown>;
}

/**
 * The order of a story. The user's changes are shown immediately and until the last one is saved, so that earlier responses
 * don't undo later changes.
 */
export function useOrder(story: StoryBody): StoryOrder {
  const { t } = useLingui();
  const queryClient = useQueryClient();
  const { queryKey } = storyQuery(story.id);
  const mutationKey = ["story-order", story.id];
  const [unsaved, setUnsaved] = useState<readonly string[] | null>(null);
  const change = useMutation({
    mutationKey,
    // In sequence, in the order of the user's changes.
    scope: { id: `story-${story.id}` },
    mutationFn: (ids: readonly string[]) => updateStory(story.id, { highlight_ids: [...ids] }),
    onSuccess: async (saved) => {
      await queryClient.cancelQueries({ queryKey });
      queryClient.setQueryData(queryKey, saved);
    },
    onError: (error) => {
      notifications.show({ color: "red", title: t`Couldn't save order`, message: error.message });
    },
    onSettled: async (_saved, error) => {
      // The mutation that just settled is still counted.
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
