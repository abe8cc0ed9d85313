import { useLingui } from "@lingui/react/macro";
import { TagsInput, Textarea, TextInput } from "@mantine/core";
import type { StoryBody, StoryFields } from "../api/stories.ts";
import { useDraft } from "../common/drafts/use-draft.tsx";
import { Form, useForm } from "../common/forms/form.tsx";

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
  const { t } = useLingui();
  const draft = useDraft(`story:${props.storyId ?? "new"}`, props.fields);
  const { value: fields, change: set } = draft;
  const save = useForm({ run: () => props.save(fields), draft, onDone: props.onSaved });
  return (
    <Form form={save} label={props.verb} onCancel={props.onCancel}>
      <TextInput
        label={t`Title`}
        required
        maxLength={500}
        data-autofocus
        value={fields.title}
        onChange={(event) => set({ title: event.currentTarget.value })}
        error={save.errorOf("title")}
      />
      <Textarea
        label={t`Description`}
        autosize
        minRows={3}
        maxRows={10}
        maxLength={10_000}
        value={fields.description}
        onChange={(event) => set({ description: event.currentTarget.value })}
        error={save.errorOf("description")}
      />
      <TagsInput
        label={t`Tags`}
        description={t`Letters, numbers, dashes. Press Enter to add.`}
        value={fields.tags}
        onChange={(tags) => set({ tags })}
        error={save.errorOf("tags")}
      />
      <TextInput
        label={t`Cover image`}
        description={t`Image URL (https)`}
        inputMode="url"
        placeholder="https://"
        maxLength={2000}
        value={fields.banner_image_url ?? ""}
        onChange={(event) => set({ banner_image_url: event.currentTarget.value.trim() })}
        error={save.errorOf("banner_image_url")}
      />
    </Form>
  );
}
