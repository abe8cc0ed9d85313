import { useLingui } from "@lingui/react/macro";
import { Select, TextInput } from "@mantine/core";
import {
  createMeetingType,
  type MeetingType,
  meetingTypeKeys,
  type Scope,
  updateMeetingType,
} from "../../api/settings/workspace.ts";
import { useDraft } from "../../common/drafts/use-draft.tsx";
import { Form, useForm } from "../../common/forms/form.tsx";
import { LanguageSelect } from "../../common/language-select.tsx";
import { VocabularyInput } from "../../common/vocabulary-input.tsx";

/** Creates or edits a meeting type. */
export function MeetingTypeForm({ type, onDone }: { type?: MeetingType; onDone: () => void }) {
  const { t } = useLingui();
  const draft = useDraft(`meeting-type:${type?.id ?? "new"}`, {
    name: type?.name ?? "",
    scope: type?.scope ?? ("internal" as Scope),
    spoken_language: type?.spoken_language ?? "auto",
    vocabulary: [...(type?.vocabulary ?? [])],
  });
  const { name, scope, spoken_language, vocabulary } = draft.value;
  const save = useForm({
    run: () =>
      type === undefined ? createMeetingType(draft.value) : updateMeetingType(type.id, draft.value),
    done: type === undefined ? t`Meeting type created.` : t`Meeting type saved.`,
    refresh: meetingTypeKeys,
    onDone,
    draft,
  });
  const isDefault = type?.is_default === true;
  return (
    <Form form={save} label={type === undefined ? t`Create type` : t`Save`} onCancel={onDone}>
      <TextInput
        label={t`Name`}
        required
        data-autofocus
        value={name}
        onChange={(event) => draft.change({ name: event.currentTarget.value })}
        error={save.errorOf("name")}
      />
      <Select
        label={t`Category`}
        {...(isDefault
          ? {
              description: t`The default type can't change its category. Make another type the default first.`,
            }
          : {})}
        allowDeselect={false}
        readOnly={isDefault}
        data={[
          { value: "internal", label: t`Internal: no guests` },
          { value: "external", label: t`External: with guests` },
        ]}
        value={scope}
        onChange={(value) => draft.change({ scope: (value ?? "internal") as Scope })}
      />
      <LanguageSelect
        label={t`Language`}
        automatic={t`As in the workspace`}
        value={spoken_language}
        onChange={(value) => draft.change({ spoken_language: value })}
      />
      <VocabularyInput value={vocabulary} onChange={(value) => draft.change({ vocabulary: value })} />
    </Form>
  );
}
