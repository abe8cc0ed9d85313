import { Alert, Button, Group, Stack, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { ApiError } from "../api/client/api-error.ts";
import type { StoryBody, StoryFields } from "../api/stories.ts";
import { DraftNotice, useDraft } from "../common/drafts/use-draft.tsx";

/** Edits a story's title, description, tags and cover image. */
export function StoryForm(props: {
  /** Absent for a new story. */
  storyId?: string;
  verb: string;
  fields: StoryFields;
  save: (fields: StoryFields) => Promise<StoryBody>;
  onSaved: (story: StoryBody) => void;
  onCancel: () => void;
}) {
  const draft = useDraft(`story:${props.storyId ?? "new"}`, props.fields);
  const { value: fields, change: set } = draft;
  const save = useMutation({
    mutationFn: () => props.save(fields),
    onSuccess: (story) => {
      draft.saved();
      props.onSaved(story);
    },
  });
  const violations = save.error instanceof ApiError ? save.error.violations : [];
  const errorAt = (name: string) =>
    violations.find(({ pointer }) => pointer === `/${name}` || pointer.startsWith(`/${name}/`))?.detail;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <Stack gap="sm">
        <DraftNotice draft={draft} />
        <TextInput
          label="Title"
          required
          maxLength={500}
          data-autofocus
          value={fields.title}
          onChange={(event) => set({ title: event.currentTarget.value })}
          error={errorAt("title")}
        />
        <Textarea
          label="Description"
          autosize
          minRows={3}
          maxRows={10}
          maxLength={10_000}
          value={fields.description}
          onChange={(event) => set({ description: event.currentTarget.value })}
          error={errorAt("description")}
        />
        <TagsInput
          label="Tags"
          description="Letters, numbers, dashes. Press Enter to add."
          value={fields.tags}
          onChange={(tags) => set({ tags })}
          error={errorAt("tags")}
        />
        <TextInput
          label="Cover image"
          description="Image URL (https)"
          inputMode="url"
          placeholder="https://"
          maxLength={2000}
          value={fields.banner_image_url ?? ""}
          onChange={(event) => set({ banner_image_url: event.currentTarget.value.trim() })}
          error={errorAt("banner_image_url")}
        />
        {save.isError && violations.length === 0 ? (
          <Alert color="red" variant="light">
            {save.error.message}
          </Alert>
        ) : null}
        <Group justify="flex-end">
          <Button
            variant="default"
            onClick={() => {
              draft.forget();
              props.onCancel();
            }}
          >
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
