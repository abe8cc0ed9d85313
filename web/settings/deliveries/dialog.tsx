import { t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Code, Fieldset, Select, SimpleGrid, Stack, Switch, Text, Textarea, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  defaultTemplate,
  maxTemplateLength,
  placeholderNames,
  showsTranscriptAsSummary,
} from "../../../contract/deliveries/template.ts";
import { meetingTypesQuery, teamsQuery } from "../../api/directory.ts";
import {
  type Conditions,
  createDestination,
  type Destination,
  type DestinationKind,
  destinationsQuery,
  previewQuery,
  updateDestination,
} from "../../api/settings/deliveries.ts";
import { FormError } from "../../common/actions.tsx";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { useDraft } from "../../common/drafts/use-draft.tsx";
import { Markdown } from "../../common/format/markdown.tsx";
import { Form, type FormState, useForm } from "../../common/forms/form.tsx";
import { Panel, Pre } from "../parts.tsx";
import { isChat, kinds } from "./kinds.ts";

interface DialogProps {
  readonly edited: Destination | "new" | null;
  readonly isAdmin: boolean;
  readonly onClose: () => void;
}

/** Creates or edits a delivery, with a preview of a real recording. */
export function DeliveryDialog({ edited, isAdmin, onClose }: DialogProps) {
  const { t } = useLingui();
  const name = edited === null || edited === "new" ? null : edited.name;
  const title = name === null ? t`Create delivery` : t`Edit ${name}`;
  return (
    <FormDialog opened={edited !== null} onClose={onClose} title={title} centered size="lg">
      {edited === null ? null : (
        <DeliveryForm delivery={edited === "new" ? null : edited} isAdmin={isAdmin} onClose={onClose} />
      )}
    </FormDialog>
  );
}

interface Values {
  readonly kind: DestinationKind;
  readonly name: string;
  readonly folder: string;
  readonly link_people: boolean;
  readonly conditions: Conditions;
  readonly template: string;
}

/** Without what is empty. */
function given(conditions: Conditions): Conditions {
  return Object.fromEntries(
    Object.entries(conditions).filter(([, value]) => value !== "" && value !== undefined),
  );
}

/** What is sent without a template of one's own, in the reader's language. */
function standardTemplate(): string {
  return defaultTemplate({
    action_items: t`Action items`,
    chapters: t`Chapters`,
    highlights: t`Highlights`,
  });
}

/** Null: the standard template, whose headings are in the language of each message. */
function ownTemplate(typed: string): string | null {
  return ["", standardTemplate().trim()].includes(typed.trim()) ? null : typed;
}

function DeliveryForm(props: { delivery: Destination | null; isAdmin: boolean; onClose: () => void }) {
  const { t } = useLingui();
  const { delivery, isAdmin, onClose } = props;
  const standard = standardTemplate();
  const draft = useDraft<Values>(`delivery:${delivery?.id ?? "new"}`, {
    kind: delivery?.kind ?? "slack",
    name: delivery?.name ?? "",
    folder: delivery?.folder ?? "",
    link_people: delivery?.link_people ?? false,
    conditions: delivery?.conditions ?? {},
    template: delivery?.template ?? standard,
  });
  // A secret is not kept in the browser.
  const [url, setUrl] = useState("");
  const { kind, name, folder, link_people, conditions, template } = draft.value;
  const save = useForm({
    run: () => {
      const body = {
        ...(name.trim() === "" ? {} : { name }),
        ...(isChat(kind) && url !== "" ? { url } : {}),
        ...(kind === "markdown" ? { folder, link_people } : {}),
        conditions: given(conditions),
        template: ownTemplate(template),
      };
      return delivery === null ? createDestination({ kind, ...body }) : updateDestination(delivery.id, body);
    },
    done: delivery === null ? t`Delivery created.` : t`Delivery saved.`,
    refresh: [destinationsQuery.queryKey],
    draft,
    onDone: onClose,
  });
  const { example } = kinds[kind];
  const help = t(kinds[kind].help);
  const placeholders = placeholderNames.map((placeholder) => (
    <Code key={placeholder} me={4} display="inline-block">{`{${placeholder}}`}</Code>
  ));
  return (
    <Form form={save} label={delivery === null ? t`Create delivery` : t`Save`} onCancel={onClose}>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
        <Select
          label={t`Send to`}
          allowDeselect={false}
          disabled={delivery !== null}
          data={Object.entries(kinds)
            .filter(([value]) => isAdmin || isChat(value as DestinationKind))
            .map(([value, { label }]) => ({ value, label: t(label) }))}
          value={kind}
          onChange={(value) => draft.change({ kind: (value ?? "slack") as DestinationKind })}
          error={save.errorOf("kind")}
        />
        <TextInput
          label={t`Name`}
          placeholder={isChat(kind) ? "#sales" : t(kinds[kind].label)}
          maxLength={100}
          value={name}
          onChange={(event) => draft.change({ name: event.currentTarget.value })}
          error={save.errorOf("name")}
        />
      </SimpleGrid>
      {isChat(kind) ? (
        <TextInput
          label={t`Webhook URL`}
          description={
            delivery === null
              ? help
              : t`It is a secret and not shown again. Leave it empty to keep it. ${help}`
          }
          placeholder={example}
          type="url"
          required={delivery === null}
          autoComplete="off"
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value)}
          error={save.errorOf("url")}
        />
      ) : (
        <Text size="sm" c="dimmed">
          {help}
        </Text>
      )}
      {kind === "markdown" ? (
        <>
          <TextInput
            label={t`Folder`}
            description={t`Below objects/notes/<workspace id> in the server's data folder, or notes/<workspace id> in its bucket. Files are in folders by year and month.`}
            placeholder="meetings"
            maxLength={500}
            value={folder}
            onChange={(event) => draft.change({ folder: event.currentTarget.value })}
            error={save.errorOf("folder")}
          />
          <Switch
            label={t`Write names as links: [[Ada]]`}
            checked={link_people}
            onChange={(event) => draft.change({ link_people: event.currentTarget.checked })}
          />
        </>
      ) : null}
      <ConditionFields
        conditions={conditions}
        set={(change) => draft.change({ conditions: given({ ...conditions, ...change }) })}
        save={save}
      />
      <Textarea
        label={t`Text`}
        description={
          <Trans>
            Below the title, in Markdown. Lines without content are left out. Placeholders: {placeholders}
          </Trans>
        }
        autosize
        minRows={4}
        maxRows={14}
        maxLength={maxTemplateLength}
        value={template}
        onChange={(event) => draft.change({ template: event.currentTarget.value })}
        error={save.errorOf("template")}
      />
      {showsTranscriptAsSummary(template) ? (
        <Text size="sm" c="dimmed">
          <Trans>Where there is no summary, the first lines of the transcript are sent in its place.</Trans>
        </Text>
      ) : null}
      <Preview kind={kind} conditions={conditions} template={template} linkPeople={link_people} />
    </Form>
  );
}

function ConditionFields(props: {
  conditions: Conditions;
  set: (change: { [Name in keyof Conditions]?: Conditions[Name] | undefined }) => void;
  save: FormState;
}) {
  const { t } = useLingui();
  const { conditions, set, save } = props;
  const teams = useQuery(teamsQuery).data?.teams ?? [];
  const types = useQuery(meetingTypesQuery).data?.meeting_types ?? [];
  return (
    <Fieldset legend={t`Which recordings`}>
      <Text size="sm" c="dimmed" mb="sm">
        <Trans>All that you can see, unless you choose here.</Trans>
      </Text>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
        <Select
          label={t`Shared with team`}
          placeholder={t`Any or none`}
          clearable
          searchable
          data={teams.map(({ id, name }) => ({ value: id, label: name }))}
          value={conditions.team_id ?? null}
          onChange={(value) => set({ team_id: value ?? undefined })}
          error={save.errorOf("conditions")}
        />
        <Select
          label={t`Meeting type`}
          placeholder={t`Any type`}
          clearable
          searchable
          data={types.map(({ id, name }) => ({ value: id, label: name }))}
          value={conditions.meeting_type_id ?? null}
          onChange={(value) => set({ meeting_type_id: value ?? undefined })}
        />
        <TextInput
          label={t`Tag`}
          placeholder={t`Any or none`}
          maxLength={200}
          value={conditions.tag ?? ""}
          onChange={(event) => set({ tag: event.currentTarget.value })}
        />
        <Select
          label={t`Participants`}
          placeholder={t`Anyone`}
          clearable
          data={[
            { value: "internal", label: t`Internal only` },
            { value: "external", label: t`With guests` },
          ]}
          value={conditions.scope ?? null}
          onChange={(value) =>
            set({ scope: value === "internal" || value === "external" ? value : undefined })
          }
        />
        <TextInput
          label={t`Title contains`}
          placeholder={t`Any title`}
          maxLength={200}
          value={conditions.title ?? ""}
          onChange={(event) => set({ title: event.currentTarget.value })}
        />
      </SimpleGrid>
    </Fieldset>
  );
}

interface PreviewProps {
  readonly kind: DestinationKind;
  readonly conditions: Conditions;
  readonly template: string;
  readonly linkPeople: boolean;
}

/** What would be sent of a recording, while the text is typed: by default of the newest that would be sent. */
function Preview({ kind, conditions, template, linkPeople }: PreviewProps) {
  const { t } = useLingui();
  const [chosen, setChosen] = useState<string | null>(null);
  const [typed] = useDebouncedValue(template, 400);
  const [wanted] = useDebouncedValue(conditions, 400);
  const preview = useQuery(
    previewQuery({
      kind,
      ...(chosen === null ? {} : { recording_id: chosen }),
      conditions: given(wanted),
      template: ownTemplate(typed),
      link_people: linkPeople,
    }),
  );
  const { data, error } = preview;
  const { recording = null, recordings = [] } = data ?? {};
  const isSent = recordings.some(({ id }) => id === recording?.id);
  const choices = recording === null || isSent ? recordings : [recording, ...recordings];
  const service = t(kinds[kind].label);
  return (
    <Stack gap="xs">
      {data === undefined ? null : choices.length === 0 ? (
        <Text size="sm" c="dimmed">
          <Trans>None of your recordings would be sent yet, so this is a sample.</Trans>
        </Text>
      ) : (
        <Select
          label={t`Preview`}
          description={isSent ? undefined : t`This recording is not among the newest that would be sent.`}
          searchable
          allowDeselect={false}
          data={choices.map(({ id, title }) => ({ value: id, label: title }))}
          value={recording?.id ?? null}
          onChange={setChosen}
        />
      )}
      <FormError error={error} fields={[]} />
      {data === undefined ? null : isChat(kind) ? (
        <Panel>
          <Text fw={600}>{data.title}</Text>
          <Markdown text={data.text} />
        </Panel>
      ) : (
        <Pre label={t`File or email`} text={data.payload} />
      )}
      {data?.truncated === true ? (
        <Text size="sm" c="dimmed">
          <Trans>
            The message is longer than {service} takes. It is cut at a whole line and ends with a link to the
            recording.
          </Trans>
        </Text>
      ) : null}
    </Stack>
  );
}
