import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { Select, Textarea, TextInput } from "@mantine/core";
import {
  createTemplate,
  type Template,
  templatesQuery,
  updateTemplate,
} from "../../api/settings/workspace.ts";
import { useDraft } from "../../common/drafts/use-draft.tsx";
import { Form, useForm } from "../../common/forms/form.tsx";

/** Labels of section kinds. */
export const kinds: Readonly<Record<Template["kind"], MessageDescriptor>> = {
  text: msg`Text`,
  bullets: msg`Bullets`,
  checklist: msg`Checklist`,
  table: msg`Table`,
  "question-answer": msg`Questions and answers`,
};

/** Creates or edits a template. */
export function TemplateForm({ template, onDone }: { template?: Template; onDone: () => void }) {
  const { t } = useLingui();
  const draft = useDraft(`template:${template?.id ?? "new"}`, {
    title: template?.title ?? "",
    kind: template?.kind ?? ("bullets" as Template["kind"]),
    prompt: template?.prompt ?? "",
  });
  const { title, kind, prompt } = draft.value;
  const save = useForm({
    run: () =>
      template === undefined
        ? createTemplate({ title, kind, prompt })
        : updateTemplate(template.id, { title, kind, prompt }),
    done: t`Template saved.`,
    refresh: [templatesQuery.queryKey],
    onDone,
    draft,
  });
  return (
    <Form form={save} label={t`Save template`} onCancel={onDone}>
      <TextInput
        label={t`Title`}
        required
        data-autofocus
        value={title}
        onChange={(event) => draft.change({ title: event.currentTarget.value })}
        error={save.errorOf("title")}
      />
      <Select
        label={t`Format`}
        allowDeselect={false}
        data={Object.entries(kinds).map(([value, label]) => ({ value, label: t(label) }))}
        value={kind}
        onChange={(value) => draft.change({ kind: (value ?? "bullets") as Template["kind"] })}
        error={save.errorOf("kind")}
      />
      <Textarea
        label={t`Instructions`}
        description={t`Prompt`}
        placeholder={t`Risks that were mentioned, and who owns them.`}
        required
        autosize
        minRows={3}
        value={prompt}
        onChange={(event) => draft.change({ prompt: event.currentTarget.value })}
        error={save.errorOf("prompt")}
      />
    </Form>
  );
}
