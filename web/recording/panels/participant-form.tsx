import { Trans, useLingui } from "@lingui/react/macro";
import { Checkbox, Select, Text, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import {
  type Participant,
  refreshTranscript,
  type Speaker,
  transcriptQuery,
} from "../../api/recording/recording.ts";
import { useDraft } from "../../common/drafts/use-draft.tsx";
import { lengthInWords } from "../../common/format/time.ts";
import { Form, useForm } from "../../common/forms/form.tsx";
import { speakerKey, speakerReference } from "../../common/speakers.ts";
import { useRecording } from "../context.ts";
import { editErrorText } from "../transcript/use-edit.ts";

interface ParticipantDraft {
  readonly name: string;
  readonly email: string;
  readonly phone: string;
  readonly attended: boolean;
  readonly confirmed: boolean;
  /** Key of the speaker to merge into the participant. */
  readonly speaks: string | null;
}

/** Creates or edits a participant. */
export function ParticipantForm(props: {
  /** null for a new participant. */
  person: Participant | null;
  /** Speakers who are not participants. */
  otherSpeakers: readonly Speaker[];
  /** The initially selected one. */
  speaker?: Speaker | undefined;
  onClose: () => void;
}) {
  const { t } = useLingui();
  const { person, otherSpeakers, speaker, onClose } = props;
  const { id, actions } = useRecording();
  const client = useQueryClient();
  const kept = useDraft<ParticipantDraft>(`person:${id}:${person?.id ?? speaker?.name ?? "new"}`, {
    name: person?.name ?? speaker?.name ?? "",
    email: person?.email ?? "",
    phone: person?.phone ?? "",
    attended: person?.attended ?? true,
    confirmed: person?.confirmed_attendee ?? speaker !== undefined,
    speaks: speaker === undefined ? null : speakerKey(speaker),
  });
  const { value: draft, change: set } = kept;
  const body = {
    name: draft.name.trim() || null,
    email: draft.email.trim() || null,
    phone: draft.phone.trim() || null,
    attended: draft.attended,
    confirmed_attendee: draft.confirmed,
  };
  const isNameless = body.name === null && body.email === null && body.phone === null;
  const selectedSpeaker = otherSpeakers.find((one) => speakerKey(one) === draft.speaks);
  /** Merges the selected speaker into the participant. */
  const link = async (participantId: string): Promise<void> => {
    if (selectedSpeaker === undefined) return;
    const version = client.getQueryData(transcriptQuery(id).queryKey)?.transcript_version ?? 0;
    try {
      await actions.mergeSpeakers(version, [speakerReference(selectedSpeaker)], {
        participant_id: participantId,
      });
    } catch (error) {
      throw new Error(editErrorText(error));
    }
    set({ speaks: null });
  };
  const [savedId, setSavedId] = useState(person?.id);
  const save = useForm({
    run: async () => {
      try {
        if (savedId === undefined) {
          const created = await actions.addParticipant(body);
          // If the rest fails, a retry must not add the participant again.
          setSavedId(created.id);
          await link(created.id);
        } else {
          await link(savedId);
          await actions.updateParticipant(savedId, body);
        }
      } finally {
        await refreshTranscript(client, id);
      }
    },
    done: person === null ? t`Participant added` : t`Participant saved`,
    draft: kept,
    onDone: onClose,
  });
  return (
    <Form form={save} label={person === null ? t`Add` : t`Save`} onCancel={onClose} isDisabled={isNameless}>
      <TextInput
        label={t`Name`}
        {...(person === null ? {} : { description: t`Also renames them in the transcript.` })}
        maxLength={320}
        dir="auto"
        data-autofocus
        value={draft.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
        error={save.errorOf("name")}
      />
      <TextInput
        label={t`Email`}
        description={
          person?.is_invited
            ? t`Determines team or guest. Invited colleagues get access once you confirm below that they attended.`
            : t`Determines team or guest. Colleagues get access through it.`
        }
        inputMode="email"
        maxLength={320}
        value={draft.email}
        onChange={(event) => set({ email: event.currentTarget.value })}
        error={save.errorOf("email")}
      />
      <TextInput
        label={t`Phone`}
        inputMode="tel"
        maxLength={320}
        value={draft.phone}
        onChange={(event) => set({ phone: event.currentTarget.value })}
        error={save.errorOf("phone")}
      />
      {otherSpeakers.length === 0 ? null : (
        <Select
          label={t`Speaker in the transcript`}
          description={t`Assigns this speaker's lines to the participant. You can undo this in the transcript.`}
          placeholder={person === null ? t({ message: "None", context: "speaker" }) : t`No other speaker`}
          clearable
          searchable
          data={otherSpeakers.map((one) => ({
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
        label={t`Likely attended`}
        checked={draft.attended}
        onChange={(event) => set({ attended: event.currentTarget.checked })}
        error={save.errorOf("attended")}
      />
      <Checkbox
        label={t`Appears in the recording`}
        checked={draft.confirmed}
        onChange={(event) => set({ confirmed: event.currentTarget.checked })}
        error={save.errorOf("confirmed_attendee")}
      />
      {isNameless ? (
        <Text size="sm" c="dimmed" role="status">
          <Trans>Enter a name, an email or a phone number.</Trans>
        </Text>
      ) : null}
    </Form>
  );
}
