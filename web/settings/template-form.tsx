import { Button, Group, Select, Stack, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { createTemplate, type Template, templatesQuery, updateTemplate } from "../api/workspace-settings.ts";
import { FormError, fieldErrors, useAction } from "../common/actions.tsx";

/** Forms of a section, in the words of the page. */
export const kinds: Readonly<Record<Template["kind"], string>> = {
  text: "Text",
  bullets: "Bullets",
  checklist: "Checklist",
  table: "Table",
  "question-answer": "Questions and answers",
};

/** What a section is called, and what it is to hold. */
export function TemplateForm({ template, onDone }: { template?: Template; onDone: () => void }) {
  const [title, setTitle] = useState(template?.title ?? "");
  const [kind, setKind] = useState<Template["kind"]>(template?.kind ?? "bullets");
  const [prompt, setPrompt] = useState(template?.prompt ?? "");
  const save = useAction({
    run: () =>
      template === undefined
        ? createTemplate({ title, kind, prompt })
        : updateTemplate(template.id, { title, kind, prompt }),
    done: "The template is saved.",
    refresh: [templatesQuery.queryKey],
    showsError: true,
    onDone,
  });
  const faults = fieldErrors(save.error);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <Stack>
        <TextInput
          label="Title"
          required
          data-autofocus
          value={title}
          onChange={(event) => setTitle(event.currentTarget.value)}
          error={faults.title}
        />
        <Select
          label="Form"
          allowDeselect={false}
          data={Object.entries(kinds).map(([value, label]) => ({ value, label }))}
          value={kind}
          onChange={(value) => setKind((value ?? "bullets") as Template["kind"])}
          error={faults.kind}
        />
        <Textarea
          label="What it is to hold"
          description="In words for the model"
          placeholder="Risks that were named, and who owns them."
          required
          autosize
          minRows={3}
          value={prompt}
          onChange={(event) => setPrompt(event.currentTarget.value)}
          error={faults.prompt}
        />
        <FormError error={save.error} fields={["title", "kind", "prompt"]} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
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
