import { Button, Group, Select, Stack, Textarea, TextInput } from "@mantine/core";
import {
  createTemplate,
  type Template,
  templatesQuery,
  updateTemplate,
} from "../../api/settings/workspace.ts";
import { FormError, fieldErrors, useAction } from "../../common/actions.tsx";
import { DraftNotice, useDraft } from "../../common/drafts/use-draft.tsx";

/** Labels of section kinds. */
export const kinds: Readonly<Record<Template["kind"], string>> = {
  text: "Text",
  bullets: "Bullets",
  checklist: "Checklist",
  table: "Table",
  "question-answer": "Questions and answers",
};

/** Creates or edits a template. */
export function TemplateForm({ template, onDone }: { template?: Template; onDone: () => void }) {
  const draft = useDraft(`template:${template?.id ?? "new"}`, {
    title: template?.title ?? "",
    kind: template?.kind ?? ("bullets" as Template["kind"]),
    prompt: template?.prompt ?? "",
  });
  const { title, kind, prompt } = draft.value;
  const save = useAction({
    run: () =>
      template === undefined
        ? createTemplate({ title, kind, prompt })
        : updateTemplate(template.id, { title, kind, prompt }),
    done: "Template saved.",
    refresh: [templatesQuery.queryKey],
    showsError: true,
    onDone: () => {
      draft.saved();
      onDone();
    },
  });
  const errors = fieldErrors(save.error);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <Stack>
        <DraftNotice draft={draft} />
        <TextInput
          label="Title"
          required
          data-autofocus
          value={title}
          onChange={(event) => draft.change({ title: event.currentTarget.value })}
          error={errors.title}
        />
        <Select
          label="Format"
          allowDeselect={false}
          data={Object.entries(kinds).map(([value, label]) => ({ value, label }))}
          value={kind}
          onChange={(value) => draft.change({ kind: (value ?? "bullets") as Template["kind"] })}
          error={errors.kind}
        />
        <Textarea
          label="Instructions"
          description="Prompt"
          placeholder="Risks that were mentioned, and who owns them."
          required
          autosize
          minRows={3}
          value={prompt}
          onChange={(event) => draft.change({ prompt: event.currentTarget.value })}
          error={errors.prompt}
        />
        <FormError error={save.error} fields={["title", "kind", "prompt"]} />
        <Group justify="flex-end">
          <Button
            variant="default"
            onClick={() => {
              draft.forget();
              onDone();
            }}
          >
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending}>
            Save template
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
