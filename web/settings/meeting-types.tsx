import { Button, Modal, Select, Stack, Text } from "@mantine/core";
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
} from "../api/workspace-settings.ts";
import { useAction } from "../common/actions.tsx";
import { ConfirmButton } from "../common/confirm.tsx";
import { MeetingTypeForm } from "./meeting-type-form.tsx";
import { Loaded, NoneYet, Row, Rows, Section, SettingsPage, Tag } from "./parts.tsx";

const scopes = [
  { value: "internal", title: "Internal", lead: "Nobody from outside took part." },
  { value: "external", title: "External", lead: "Somebody from outside took part." },
] as const;

/** The kinds of meetings that recordings are sorted by. */
export function MeetingTypesPage() {
  const types = useQuery(managedTypesQuery);
  const [opened, { open, close }] = useDisclosure();
  return (
    <SettingsPage
      title="Meeting types"
      lead="What recordings are sorted by. The default of its kind is what a recording gets while nobody has chosen."
      action={
        <Button leftSection={<IconPlus size={18} />} onClick={open}>
          New type
        </Button>
      }
    >
      <Loaded query={types}>
        {({ meeting_types: all }) => (
          <>
            {scopes.map(({ value, title, lead }) => {
              const own = all.filter(({ scope }) => scope === value);
              return (
                <Section key={value} title={title} lead={lead}>
                  {own.length === 0 ? (
                    <NoneYet>None of this kind.</NoneYet>
                  ) : (
                    <Rows label={`${title} meeting types`}>
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
      <Modal opened={opened} onClose={close} title="New meeting type" centered>
        <MeetingTypeForm onDone={close} />
      </Modal>
    </SettingsPage>
  );
}

function TypeRow({ type, others }: { type: MeetingType; others: readonly MeetingType[] }) {
  const [edits, { open, close }] = useDisclosure();
  const [instead, setInstead] = useState<string | null>(null);
  const makeDefault = useAction({
    run: () => updateMeetingType(type.id, { is_default: true }),
    done: `${type.name} is the default now.`,
    refresh: meetingTypeKeys,
  });
  return (
    <Row
      title={type.name}
      badges={type.is_default ? <Tag tone="accent">Default</Tag> : null}
      facts={[type.recordings === 1 ? "1 recording" : `${type.recordings} recordings`]}
      actions={
        <>
          {type.is_default ? null : (
            <Button
              variant="subtle"
              size="compact-sm"
              aria-label={`Make default: ${type.name}`}
              onClick={() => makeDefault.mutate()}
            >
              Make default
            </Button>
          )}
          <Button variant="subtle" size="compact-sm" aria-label={`Edit ${type.name}`} onClick={open}>
            Edit
          </Button>
          {type.is_default ? null : (
            <ConfirmButton
              text="Delete"
              button={{ "aria-label": `Delete ${type.name}` }}
              title={`Delete ${type.name}?`}
              label="Delete type"
              run={() => deleteMeetingType(type.id, instead)}
              done={`${type.name} is deleted.`}
              refresh={meetingTypeKeys}
            >
              {type.recordings === 0 ? (
                "No recording has it. This can't be undone."
              ) : (
                <Stack gap="sm">
                  <Text size="sm">Recordings that have it need another type. This can't be undone.</Text>
                  <Select
                    label="They get instead"
                    data={others.map(({ id, name }) => ({ value: id, label: name }))}
                    value={instead}
                    onChange={setInstead}
                  />
                </Stack>
              )}
            </ConfirmButton>
          )}
        </>
      }
    >
      <Modal opened={edits} onClose={close} title={`Edit ${type.name}`} centered>
        <MeetingTypeForm type={type} onDone={close} />
      </Modal>
    </Row>
  );
}
