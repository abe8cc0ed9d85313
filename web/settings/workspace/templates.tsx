import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Button, Group, NumberInput, Stack, Switch, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconArrowDown, IconArrowUp, IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  deleteTemplate,
  type Intelligence,
  intelligenceQuery,
  type Template,
  templatesQuery,
  updateIntelligence,
  updateTemplate,
} from "../../api/settings/workspace.ts";
import { FormError, fieldErrors, useAction } from "../../common/actions.tsx";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { number, separators } from "../../common/format/numbers.ts";
import { ServerText } from "../../common/format/server-text.tsx";
import { whenInLine } from "../../common/format/time.ts";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { LanguageSelect } from "../../common/language-select.tsx";
import { Loaded, NoneYet, Panel, Row, Rows, Section, SettingsPage, Tag } from "../parts.tsx";
import { kinds, TemplateForm } from "./template-form.tsx";

/** Section templates, and the settings of the language model. */
export function TemplatesPage() {
  const { t } = useLingui();
  const templates = useQuery(templatesQuery);
  const intelligence = useQuery(intelligenceQuery);
  const [opened, { open, close }] = useDisclosure();
  return (
    <SettingsPage
      title={t`Templates`}
      lead={t`Sections that the language model writes for each recording. Existing sections update on the next run.`}
      action={
        <Button leftSection={<IconPlus size={18} />} onClick={open}>
          <Trans>Create template</Trans>
        </Button>
      }
    >
      <Loaded query={templates}>
        {({ templates }) =>
          templates.length === 0 ? (
            <NoneYet>
              <Trans>No templates yet. Recordings get only a summary and action items.</Trans>
            </NoneYet>
          ) : (
            <Rows label={t`Templates`}>
              {templates.map((template, index) => (
                <TemplateRow
                  key={template.id}
                  template={template}
                  before={templates[index - 1]}
                  after={templates[index + 1]}
                />
              ))}
            </Rows>
          )
        }
      </Loaded>
      <Section title={t`Language model`}>
        <Loaded query={intelligence}>{(status) => <Model status={status} />}</Loaded>
      </Section>
      <FormDialog opened={opened} onClose={close} title={t`New template`} centered>
        <TemplateForm onDone={close} />
      </FormDialog>
    </SettingsPage>
  );
}

interface RowProps {
  template: Template;
  before: Template | undefined;
  after: Template | undefined;
}

function TemplateRow({ template, before, after }: RowProps) {
  const { t } = useLingui();
  const [edits, { open, close }] = useDisclosure();
  const { title } = template;
  const refresh = [templatesQuery.queryKey];
  const enable = useAction({
    run: (enabled: boolean) => updateTemplate(template.id, { enabled }),
    refresh,
  });
  const swap = useAction({
    run: async (other: Template) => {
      // Templates created at the same time may share a position; then this one moves past the other.
      const past = other === before ? Math.max(0, other.position - 1) : other.position + 1;
      const same = other.position === template.position;
      await updateTemplate(template.id, { position: same ? past : other.position });
      if (!same) await updateTemplate(other.id, { position: template.position });
    },
    refresh,
  });
  return (
    <Row
      title={title}
      badges={
        <>
          <Tag>{t(kinds[template.kind])}</Tag>
          {template.enabled ? null : (
            <Tag tone="warn">
              <Trans>Off</Trans>
            </Tag>
          )}
        </>
      }
      facts={[<span key="prompt">{template.prompt}</span>]}
      actions={
        <>
          <Switch
            size="sm"
            mx={6}
            aria-label={t`Enable ${title}`}
            checked={enable.isPending ? enable.variables : template.enabled}
            onChange={(event) => enable.mutate(event.currentTarget.checked)}
          />
          {(
            [
              ["up", before, IconArrowUp, t`Move ${title} up`],
              ["down", after, IconArrowDown, t`Move ${title} down`],
            ] as const
          ).map(([where, other, Icon, label]) => (
            <ActionIcon
              key={where}
              variant="subtle"
              color="gray"
              aria-label={label}
              disabled={other === undefined || swap.isPending}
              onClick={() => other !== undefined && swap.mutate(other)}
            >
              <Icon size={16} />
            </ActionIcon>
          ))}
          <Button variant="subtle" size="compact-sm" aria-label={t`Edit ${title}`} onClick={open}>
            <Trans>Edit</Trans>
          </Button>
          <ConfirmButton
            text={t`Delete`}
            button={{ "aria-label": t`Delete ${title}` }}
            title={t`Delete ${title}?`}
            label={t`Delete template`}
            run={() => deleteTemplate(template.id)}
            done={t`${title} deleted.`}
            refresh={[["templates"]]}
          >
            <Trans>Existing sections stay until the recording's next run. This can't be undone.</Trans>
          </ConfirmButton>
        </>
      }
    >
      <FormDialog opened={edits} onClose={close} title={t`Edit ${title}`} centered>
        <TemplateForm template={template} onDone={close} />
      </FormDialog>
    </Row>
  );
}

function Model({ status }: { status: Intelligence }) {
  const { t } = useLingui();
  const { model, max_tokens_per_day, server_max_tokens_per_day: serverLimit } = status;
  const { pending, waiting, failed } = status.recordings;
  const tokens = number(status.used_tokens_today);
  const requests = number(status.requests_today);
  const time = whenInLine(status.resets_datetime);
  const [limit, setLimit] = useState<number | string>(max_tokens_per_day ?? "");
  const refresh = [intelligenceQuery.queryKey];
  const turn = useAction({
    run: (enabled: boolean) => updateIntelligence({ enabled }),
    done: ({ enabled }) => (enabled ? t`The language model is on.` : t`The language model is off.`),
    refresh,
  });
  const save = useAction({
    run: () => updateIntelligence({ max_tokens_per_day: limit === "" ? 0 : Number(limit) }),
    done: t`Limit saved.`,
    refresh,
    showsError: true,
  });
  const write = useAction({
    run: (language: string) => updateIntelligence({ language: language as Intelligence["language"] }),
    done: t`Language saved. It applies to new summaries.`,
    refresh,
  });
  return (
    <Panel>
      <Stack gap="md">
        <Switch
          label={model === null ? t`Language model` : t`Language model: ${model}`}
          description={
            status.enabled && model === null
              ? t`Summaries, chapters and action items need a language model. An admin of this server can set one up in Settings → Language model.`
              : null
          }
          checked={turn.isPending ? turn.variables : status.enabled}
          onChange={(event) => turn.mutate(event.currentTarget.checked)}
        />
        <Text size="sm" c="dimmed">
          <Trans>
            Tokens used today: {tokens}. Requests: {requests}. Resets {time}.
          </Trans>{" "}
          {pending + waiting > 0 ? (
            <Plural
              value={pending + waiting}
              one="# recording in progress."
              other="# recordings in progress."
            />
          ) : null}{" "}
          {failed > 0 ? (
            <Plural value={failed} one="# recording failed." other="# recordings failed." />
          ) : null}{" "}
          {status.last_error === null ? null : <ServerText text={status.last_error} />}
        </Text>
        <LanguageSelect
          label={t`Language of summaries`}
          description={t`Also of chapters and action items. Ask follows the language of the question.`}
          automatic={t`The meeting's language`}
          value={write.isPending ? write.variables : status.language}
          onChange={(language) => write.mutate(language)}
        />
        <form
          onSubmit={(event) => {
            event.preventDefault();
            save.mutate();
          }}
        >
          <Group align="flex-end" gap="sm">
            <NumberInput
              label={t`Daily token limit`}
              placeholder={
                serverLimit === null ? t`No limit` : t`${{ limit: number(serverLimit) }} (server limit)`
              }
              min={0}
              allowDecimal={false}
              {...separators()}
              value={limit}
              onChange={setLimit}
              error={fieldErrors(save.error).max_tokens_per_day}
            />
            <Button type="submit" variant="default" loading={save.isPending}>
              <Trans>Save limit</Trans>
            </Button>
          </Group>
          <FormError error={save.error} fields={["max_tokens_per_day"]} />
        </form>
      </Stack>
    </Panel>
  );
}
