import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Button, Fieldset, Select, Stack, Text, TextInput } from "@mantine/core";
import { randomId } from "@mantine/hooks";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import classes from "../uploads.module.css";
import type { DraftParticipant } from "./review-draft.ts";

/** Edits participants, and which transcript speaker each one is. */
export function ParticipantRows(props: {
  participants: readonly DraftParticipant[];
  /** The transcript's speakers. */
  speakerKeys: readonly string[];
  onChange: (participants: readonly DraftParticipant[]) => void;
  errorOf: (index: number) => string | undefined;
}) {
  const { t } = useLingui();
  const { participants, speakerKeys, onChange } = props;
  const set = (key: string, change: Partial<DraftParticipant>) =>
    onChange(participants.map((person) => (person.key === key ? { ...person, ...change } : person)));
  return (
    <Fieldset legend={t`Participants`} radius="md">
      <Stack gap="sm">
        {participants.length === 0 ? (
          <Text size="sm" c="dimmed">
            <Trans>No participants yet. People added by email get access to the recording.</Trans>
          </Text>
        ) : null}
        {participants.map(({ key, name, email, speakerKey }, index) => {
          const error = props.errorOf(index);
          const number = index + 1;
          const keys = new Set([...speakerKeys, ...(speakerKey === null ? [] : [speakerKey])]);
          return (
            <div key={key} className={classes.participant}>
              <TextInput
                aria-label={t`Name of participant ${number}`}
                placeholder={t`Name`}
                maxLength={320}
                value={name}
                onChange={(event) => set(key, { name: event.currentTarget.value })}
                error={error}
              />
              <TextInput
                aria-label={t`Email of participant ${number}`}
                placeholder={t`Email`}
                type="email"
                maxLength={320}
                value={email}
                onChange={(event) => set(key, { email: event.currentTarget.value })}
              />
              <Select
                aria-label={t`Speaker of participant ${number}`}
                placeholder={keys.size === 0 ? t`No transcript` : t`Not a speaker`}
                disabled={keys.size === 0}
                clearable
                searchable
                data={[...keys].filter((one) => one !== "")}
                value={speakerKey}
                onChange={(chosen) => set(key, { speakerKey: chosen })}
              />
              <ActionIcon
                variant="subtle"
                color="gray"
                size="input-sm"
                aria-label={t`Remove participant ${number}`}
                onClick={() => onChange(participants.filter((person) => person.key !== key))}
              >
                <IconTrash size={18} />
              </ActionIcon>
            </div>
          );
        })}
        <Button
          variant="light"
          size="xs"
          leftSection={<IconPlus size={16} />}
          style={{ alignSelf: "flex-start" }}
          onClick={() =>
            onChange([
              ...participants,
              { key: randomId(), name: "", email: "", phone: null, speakerKey: null },
            ])
          }
        >
          <Trans>Add participant</Trans>
        </Button>
      </Stack>
    </Fieldset>
  );
}
