import { Alert, Button, Group, Stack, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../api/client.ts";
import type { StoryBody, StoryWords } from "../api/stories.ts";

/** What a story is called and what it is about. */
export function StoryForm(props: {
  verb: string;
  words: StoryWords;
  save: (words: StoryWords) => Promise<StoryBody>;
  onSaved: (story: StoryBody) => void;
  onCancel: () => void;
}) {
  const [words, setWords] = useState(props.words);
  const set = (change: Partial<StoryWords>) => setWords((before) => ({ ...before, ...change }));
  const save = useMutation({ mutationFn: () => props.save(words), onSuccess: props.onSaved });
  const violations = save.error instanceof ApiError ? save.error.violations : [];
  const faultAt = (name: string) =>
    violations.find(({ pointer }) => pointer === `/${name}` || pointer.startsWith(`/${name}/`))?.detail;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <Stack gap="sm">
        <TextInput
          label="Title"
          required
          maxLength={500}
          data-autofocus
          value={words.title}
          onChange={(event) => set({ title: event.currentTarget.value })}
          error={faultAt("title")}
        />
        <Textarea
          label="Description"
          autosize
          minRows={3}
          maxRows={10}
          maxLength={10_000}
          value={words.description}
          onChange={(event) => set({ description: event.currentTarget.value })}
          error={faultAt("description")}
        />
        <TagsInput
          label="Tags"
          description="Letters, digits and dashes; Enter adds one."
          value={words.tags}
          onChange={(tags) => set({ tags })}
          error={faultAt("tags")}
        />
        <TextInput
          label="Banner picture"
          description="The https address of a picture; it stands above the story, and on its card."
          inputMode="url"
          placeholder="https://"
          maxLength={2000}
          value={words.banner_image_url ?? ""}
          onChange={(event) => set({ banner_image_url: event.currentTarget.value.trim() })}
          error={faultAt("banner_image_url")}
        />
        {save.isError && violations.length === 0 ? (
          <Alert color="red" variant="light">
            {save.error.message}
          </Alert>
        ) : null}
        <Group justify="flex-end">
          <Button variant="default" onClick={props.onCancel}>
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending}>
            {props.verb}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
