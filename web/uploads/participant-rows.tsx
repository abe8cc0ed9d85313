import { ActionIcon, Button, Fieldset, Select, Stack, Text, TextInput } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import type { DraftParticipant } from "./review-draft.ts";
import classes from "./uploads.module.css";

/** The people of a recording and what they are called in its transcript. */
export function ParticipantRows(props: {
  participants: readonly DraftParticipant[];
  /** Those of the transcript. */
  speakerKeys: readonly string[];
  onChange: (participants: readonly DraftParticipant[]) => void;
  faultOf: (place: number) => string | undefined;
}) {
  const { participants, speakerKeys, onChange } = props;
  const set = (key: string, change: Partial<DraftParticipant>) =>
    onChange(participants.map((person) => (person.key === key ? { ...person, ...change } : person)));
  return (
    <Fieldset legend="Participants" radius="md">
      <Stack gap="sm">
        {participants.length === 0 ? (
          <Text size="sm" c="dimmed">
            Nobody yet. People added here by email see the recording when it is there.
          </Text>
        ) : null}
        {participants.map(({ key, name, email, speakerKey }, place) => {
          const fault = props.faultOf(place);
          const keys = new Set([...speakerKeys, ...(speakerKey === null ? [] : [speakerKey])]);
          return (
            <div key={key} className={classes.participant}>
              <TextInput
                aria-label={`Name of participant ${place + 1}`}
                placeholder="Name"
                maxLength={320}
                value={name}
                onChange={(event) => set(key, { name: event.currentTarget.value })}
                error={fault}
              />
              <TextInput
                aria-label={`Email of participant ${place + 1}`}
                placeholder="Email"
                type="email"
                maxLength={320}
                value={email}
                onChange={(event) => set(key, { email: event.currentTarget.value })}
              />
              <Select
                aria-label={`Speaker of participant ${place + 1}`}
                placeholder={keys.size === 0 ? "No transcript" : "Does not speak"}
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
                aria-label={`Remove participant ${place + 1}`}
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
              { key: crypto.randomUUID(), name: "", email: "", phone: null, speakerKey: null },
            ])
          }
        >
          Add a participant
        </Button>
      </Stack>
    </Fieldset>
  );
}
