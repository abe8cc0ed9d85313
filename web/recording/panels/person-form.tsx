import { Button, Checkbox, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type Participant, refreshTranscript, type Speaker, transcriptQuery } from "../../api/recording.ts";
import { FormError, fieldErrors, useAction } from "../../common/actions.tsx";
import { lengthInWords } from "../../common/time.ts";
import { useRecording } from "../context.ts";
import { speakerKey, speakerReference } from "../speakers.ts";
import { refusalOf } from "../transcript/use-edit.ts";

const nameless = "Give a name, an email or a phone number.";

/** Who took part: a new participant, or what is known of one. */
export function PersonForm(props: {
  /** null: somebody new. */
  person: Participant | null;
  /** Who speaks without being a participant. */
  strangers: readonly Speaker[];
  /** The one of them that it is about from the beginning. */
  speaker?: Speaker | undefined;
  onClose: () => void;
}) {
  const { person, strangers, speaker, onClose } = props;
  const { id, actions } = useRecording();
  const client = useQueryClient();
  const [draft, setDraft] = useState(() => ({
    name: person?.name ?? speaker?.name ?? "",
    email: person?.email ?? "",
    phone: person?.phone ?? "",
    attended: person?.attended ?? true,
    confirmed: person?.confirmed_attendee ?? speaker !== undefined,
    speaks: speaker === undefined ? null : speakerKey(speaker),
  }));
  const set = (change: Partial<typeof draft>): void => setDraft((old) => ({ ...old, ...change }));
  const body = {
    name: draft.name.trim() || null,
    email: draft.email.trim() || null,
    phone: draft.phone.trim() || null,
    attended: draft.attended,
    confirmed_attendee: draft.confirmed,
  };
  const isNameless = body.name === null && body.email === null && body.phone === null;
  const stranger = strangers.find((one) => speakerKey(one) === draft.speaks);
  /** Gives the words of a speaker to the participant. */
  const link = async (participantId: string): Promise<void> => {
    if (stranger === undefined) return;
    const version = client.getQueryData(transcriptQuery(id).queryKey)?.transcript_version ?? 0;
    try {
      await actions.mergeSpeakers(version, [speakerReference(stranger)], { participant_id: participantId });
    } catch (error) {
      throw new Error(refusalOf(error));
    }
    set({ speaks: null });
  };
  const [madeId, setMadeId] = useState(person?.id);
  const save = useAction({
    run: async () => {
      try {
        if (madeId === undefined) {
          const made = await actions.addPerson(body);
          // Were the rest to fail, trying again would not add them twice.
          setMadeId(made.id);
          await link(made.id);
        } else {
          await link(madeId);
          await actions.changePerson(madeId, body);
        }
      } finally {
        await refreshTranscript(client, id);
      }
    },
    done: person === null ? "Added" : "Changed",
    showsError: true,
    onDone: onClose,
  });
  const faults = fieldErrors(save.error);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!isNameless) save.mutate();
      }}
    >
      <Stack>
        <TextInput
          label="Name"
          {...(person === null ? {} : { description: "A new name is theirs in the transcript, too." })}
          maxLength={320}
          dir="auto"
          data-autofocus
          value={draft.name}
          onChange={(event) => set({ name: event.currentTarget.value })}
          error={faults.name}
        />
        <TextInput
          label="Email"
          description="Says whether they are of the team or a guest. Colleagues see the recording by it."
          inputMode="email"
          maxLength={320}
          value={draft.email}
          onChange={(event) => set({ email: event.currentTarget.value })}
          error={faults.email}
        />
        <TextInput
          label="Phone"
          inputMode="tel"
          maxLength={320}
          value={draft.phone}
          onChange={(event) => set({ phone: event.currentTarget.value })}
          error={faults.phone}
        />
        {strangers.length === 0 ? null : (
          <Select
            label="Speaks in the transcript as"
            description="Everything this speaker says becomes theirs. It can be taken back in the transcript."
            placeholder={person === null ? "Nobody" : "Nobody else"}
            clearable
            searchable
            data={strangers.map((one) => ({
              value: speakerKey(one),
              label: `${one.name} · ${lengthInWords(one.duration_ms)}`,
            }))}
            value={draft.speaks}
            onChange={(speaks) =>
              set({ speaks, ...(speaks === null ? {} : { confirmed: true, attended: true }) })
            }
          />
        )}
        <Checkbox
          label="Took part, as far as is known"
          checked={draft.attended}
          onChange={(event) => set({ attended: event.currentTarget.checked })}
          error={faults.attended}
        />
        <Checkbox
          label="Is heard or seen in the recording"
          checked={draft.confirmed}
          onChange={(event) => set({ confirmed: event.currentTarget.checked })}
          error={faults.confirmed_attendee}
        />
        {isNameless ? (
          <Text size="sm" c="dimmed" role="status">
            {nameless}
          </Text>
        ) : null}
        {save.error !== null && save.error.constructor === Error ? (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {save.error.message}
          </Text>
        ) : (
          <FormError
            error={save.error}
            fields={["name", "email", "phone", "attended", "confirmed_attendee"]}
          />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending} disabled={isNameless}>
            {person === null ? "Add" : "Save"}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
