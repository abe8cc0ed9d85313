import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Select, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { HighlightBody } from "../api/highlights.ts";
import { createStory, storiesQuery, updateStory } from "../api/stories.ts";
import { Form, useForm } from "../common/forms/form.tsx";

const newStory = "new";

/** Appends a highlight to a story, or creates a story with it. */
export function AddToStory(props: {
  highlight: Pick<HighlightBody, "id">;
  onDone: () => void;
  onCancel: () => void;
}) {
  const { t } = useLingui();
  const { highlight, onDone, onCancel } = props;
  const query = useInfiniteQuery(storiesQuery);
  const stories = query.data?.pages.flatMap((page) => page.stories) ?? [];
  const [chosen, setChosen] = useState<string>(newStory);
  const [title, setTitle] = useState("");
  const story = stories.find(({ id }) => id === chosen);
  const isIncluded = story?.highlights.some(({ id }) => id === highlight.id) ?? false;
  const add = useForm({
    run: () =>
      story === undefined
        ? createStory({ title, description: "", tags: [], highlight_ids: [highlight.id] })
        : updateStory(story.id, { highlight_ids: [...story.highlights.map(({ id }) => id), highlight.id] }),
    onDone: (saved) => {
      notifications.show({ message: t`Added to ${{ title: saved.title }}`, color: "teal" });
      onDone();
    },
  });
  return (
    <Form form={add} label={t`Add`} onCancel={onCancel} isDisabled={isIncluded}>
      <Select
        label={t`Story`}
        allowDeselect={false}
        searchable
        data={[
          { value: newStory, label: t`New story` },
          ...stories.map(({ id, title }) => ({ value: id, label: title })),
        ]}
        value={chosen}
        onChange={(value) => setChosen(value ?? newStory)}
        error={isIncluded ? t`This highlight is already in this story.` : undefined}
      />
      {chosen === newStory ? (
        <TextInput
          label={t`Title`}
          required
          maxLength={500}
          value={title}
          onChange={(event) => setTitle(event.currentTarget.value)}
        />
      ) : null}
      {query.hasNextPage ? (
        <Button
          variant="subtle"
          size="xs"
          loading={query.isFetchingNextPage}
          onClick={() => query.fetchNextPage()}
        >
          <Trans>Show older stories</Trans>
        </Button>
      ) : null}
    </Form>
  );
}
