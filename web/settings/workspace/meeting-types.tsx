import { msg, plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Select, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  deleteMeetingType,
  type MeetingType,
  managedTypesQuery,
  meetingTypeKeys,
  updateMeetingType,
} from "../../api/settings/workspace.ts";
import { useAction } from "../../common/actions.tsx";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { Loaded, NoneYet, Row, Rows, Section, SettingsPage, Tag } from "../parts.tsx";
import { MeetingTypeForm } from "./meeting-type-form.tsx";

const scopes = [
  {
    value: "internal",
    title: msg`Internal`,
    lead: msg`Meetings without guests.`,
    list: msg`Internal meeting types`,
  },
  {
    value: "external",
    title: msg`External`,
    lead: msg`Meetings with guests.`,
    list: msg`External meeting types`,
  },
] as const;

/** The categories of recordings. */
export function MeetingTypesPage() {
  const { t } = useLingui();
  const types = useQuery(managedTypesQuery);
  const [opened, { open, close }] = useDisclosure();
  return (
    <SettingsPage
      title={t`Meeting types`}
      lead={t`Categories for recordings. The default applies until changed.`}
      action={
        <Button leftSection={<IconPlus size={18} />} onClick={open}>
          <Trans>Create type</Trans>
        </Button>
      }
    >
      <Loaded query={types}>
        {({ meeting_types: all }) => (
          <>
            {scopes.map(({ value, title, lead, list }) => {
              const own = all.filter(({ scope }) => scope === value);
              return (
                <Section key={value} title={t(title)} lead={t(lead)}>
                  {own.length === 0 ? (
                    <NoneYet>
                      <Trans>No types.</Trans>
                    </NoneYet>
                  ) : (
                    <Rows label={t(list)}>
                      {own.map((type) => (
                        <TypeRow key={type.id} type={type} others={all.filter(({ id }) => id !== type.id)} />
                      ))}
                    </Rows>
                  )}
                </Section>
              );
            })}
          </>
        )}
      </Loaded>
      <FormDialog opened={opened} onClose={close} title={t`New meeting type`} centered>
        <MeetingTypeForm onDone={close} />
      </FormDialog>
    </SettingsPage>
  );
}

function TypeRow({ type, others }: { type: MeetingType; others: readonly MeetingType[] }) {
  const { t } = useLingui();
  const [edits, { open, close }] = useDisclosure();
  const { name } = type;
  const [replacement, setReplacement] = useState<string | null>(null);
  const makeDefault = useAction({
    run: () => updateMeetingType(type.id, { is_default: true }),
    done: t`${name} is now the default.`,
    refresh: meetingTypeKeys,
  });
  return (
    <Row
      title={name}
      badges={
        type.is_default ? (
          <Tag tone="accent">
            <Trans>Default</Trans>
          </Tag>
        ) : null
      }
      facts={[plural(type.recordings, { one: "# recording", other: "# recordings" })]}
      actions={
        <>
          {type.is_default ? null : (
            <Button
              variant="subtle"
              size="compact-sm"
              aria-label={t`Make default: ${name}`}
              onClick={() => makeDefault.mutate()}
            >
              <Trans>Make default</Trans>
            </Button>
          )}
          <Button variant="subtle" size="compact-sm" aria-label={t`Edit ${name}`} onClick={open}>
            <Trans>Edit</Trans>
          </Button>
          {type.is_default ? null : (
            <ConfirmButton
              text={t`Delete`}
              button={{ "aria-label": t`Delete ${name}` }}
              title={t`Delete ${name}?`}
              label={t`Delete type`}
              run={() => deleteMeetingType(type.id, replacement)}
              done={t`${name} deleted.`}
              refresh={meetingTypeKeys}
            >
              {type.recordings === 0 ? (
                <Trans>No recordings use it. This can't be undone.</Trans>
              ) : (
                <Stack gap="sm">
                  <Text size="sm">
                    <Trans>Recordings of this type need another type. This can't be undone.</Trans>
                  </Text>
                  <Select
                    label={t`Replace with`}
                    data={others.map(({ id, name }) => ({ value: id, label: name }))}
                    value={replacement}
                    onChange={setReplacement}
                  />
                </Stack>
              )}
            </ConfirmButton>
          )}
        </>
      }
    >
      <FormDialog opened={edits} onClose={close} title={t`Edit ${name}`} centered>
        <MeetingTypeForm type={type} onDone={close} />
      </FormDialog>
    </Row>
  );
}
