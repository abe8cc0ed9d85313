import { ActionIcon, Button, Group, Modal, NumberInput, Stack, Switch, Text } from "@mantine/core";
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
} from "../api/workspace-settings.ts";
import { FormError, fieldErrors, useAction } from "../common/actions.tsx";
import { ConfirmButton } from "../common/confirm.tsx";
import { whenInLine } from "../common/time.ts";
import { Loaded, NoneYet, Panel, Row, Rows, Section, SettingsPage, Tag } from "./parts.tsx";
import { kinds, TemplateForm } from "./template-form.tsx";

/** The sections that the language model writes, and the model itself. */
export function TemplatesPage() {
  const templates = useQuery(templatesQuery);
  const intelligence = useQuery(intelligenceQuery);
  const [opened, { open, close }] = useDisclosure();
  return (
    <SettingsPage
      title="Templates"
      lead="Sections that the language model writes for each recording. Those that were made stay as they are until the next run."
      action={
        <Button leftSection={<IconPlus size={18} />} onClick={open}>
          New template
        </Button>
      }
    >
      <Loaded query={templates}>
        {({ templates }) =>
          templates.length === 0 ? (
            <NoneYet>No templates yet: recordings get a summary and action items alone.</NoneYet>
          ) : (
            <Rows label="Templates">
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
      <Section title="Language model">
        <Loaded query={intelligence}>{(status) => <Model status={status} />}</Loaded>
      </Section>
      <Modal opened={opened} onClose={close} title="New template" centered>
        <TemplateForm onDone={close} />
      </Modal>
    </SettingsPage>
  );
}

interface RowProps {
  template: Template;
  before: Template | undefined;
  after: Template | undefined;
}

function TemplateRow({ template, before, after }: RowProps) {
  const [edits, { open, close }] = useDisclosure();
  const refresh = [templatesQuery.queryKey];
  const enable = useAction({
    run: (enabled: boolean) => updateTemplate(template.id, { enabled }),
    refresh,
  });
  const swap = useAction({
    run: async (other: Template) => {
      // Templates made at once may have the same place; then this one goes past the other.
      const past = other === before ? Math.max(0, other.position - 1) : other.position + 1;
      const same = other.position === template.position;
      await updateTemplate(template.id, { position: same ? past : other.position });
      if (!same) await updateTemplate(other.id, { position: template.position });
    },
    refresh,
  });
  return (
    <Row
      title={template.title}
      badges={
        <>
          <Tag>{kinds[template.kind]}</Tag>
          {template.enabled ? null : <Tag tone="warn">Off</Tag>}
        </>
      }
      facts={[<span key="prompt">{template.prompt}</span>]}
      actions={
        <>
          <Switch
            size="sm"
            mx={6}
            aria-label={`Write ${template.title}`}
            checked={enable.isPending ? enable.variables : template.enabled}
            onChange={(event) => enable.mutate(event.currentTarget.checked)}
          />
          {(
            [
              ["up", before, IconArrowUp],
              ["down", after, IconArrowDown],
            ] as const
          ).map(([where, other, Icon]) => (
            <ActionIcon
              key={where}
              variant="subtle"
              color="gray"
              aria-label={`Move ${template.title} ${where}`}
              disabled={other === undefined || swap.isPending}
              onClick={() => other !== undefined && swap.mutate(other)}
            >
              <Icon size={16} />
            </ActionIcon>
          ))}
          <Button variant="subtle" size="compact-sm" aria-label={`Edit ${template.title}`} onClick={open}>
            Edit
          </Button>
          <ConfirmButton
            text="Delete"
            button={{ "aria-label": `Delete ${template.title}` }}
            title={`Delete ${template.title}?`}
            label="Delete template"
            run={() => deleteTemplate(template.id)}
            done={`${template.title} is deleted.`}
            refresh={[["templates"]]}
          >
            Sections that were made stay until the next run of their recording. This can't be undone.
          </ConfirmButton>
        </>
      }
    >
      <Modal opened={edits} onClose={close} title={`Edit ${template.title}`} centered>
        <TemplateForm template={template} onDone={close} />
      </Modal>
    </Row>
  );
}

const number = new Intl.NumberFormat();

function Model({ status }: { status: Intelligence }) {
  const [limit, setLimit] = useState<number | string>(status.max_tokens_per_day ?? "");
  const refresh = [intelligenceQuery.queryKey];
  const turn = useAction({
    run: (enabled: boolean) => updateIntelligence({ enabled }),
    done: ({ enabled }) => (enabled ? "The language model is on." : "The language model is off."),
    refresh,
  });
  const save = useAction({
    run: () => updateIntelligence({ max_tokens_per_day: limit === "" ? 0 : Number(limit) }),
    done: "The limit is saved.",
    refresh,
    showsError: true,
  });
  return (
    <Panel>
      <Stack gap="md">
        <Switch
          label={status.model === null ? "Language model" : `Language model: ${status.model}`}
          description={status.message}
          checked={turn.isPending ? turn.variables : status.enabled}
          onChange={(event) => turn.mutate(event.currentTarget.checked)}
        />
        <Text size="sm" c="dimmed">
          {number.format(status.used_tokens_today)} tokens in {number.format(status.requests_today)} requests
          today; a new day begins {whenInLine(status.resets_datetime)}.
          {status.recordings.pending + status.recordings.waiting > 0
            ? ` ${status.recordings.pending + status.recordings.waiting} recordings are under way.`
            : ""}
          {status.recordings.failed > 0 ? ` ${status.recordings.failed} failed.` : ""}
          {status.last_error === null ? "" : ` ${status.last_error}`}
        </Text>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            save.mutate();
          }}
        >
          <Group align="flex-end" gap="sm">
            <NumberInput
              label="At most so many tokens a day"
              placeholder={
                status.server_max_tokens_per_day === null
                  ? "No limit"
                  : `${number.format(status.server_max_tokens_per_day)}, of the operator`
              }
              min={0}
              allowDecimal={false}
              thousandSeparator=" "
              value={limit}
              onChange={setLimit}
              error={fieldErrors(save.error).max_tokens_per_day}
            />
            <Button type="submit" variant="default" loading={save.isPending}>
              Save limit
            </Button>
          </Group>
          <FormError error={save.error} fields={["max_tokens_per_day"]} />
        </form>
      </Stack>
    </Panel>
  );
}
