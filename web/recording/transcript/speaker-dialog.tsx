import { plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Radio, Select, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Segment, type Transcript, voicesQuery } from "../../api/recording/recording.ts";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { Form } from "../../common/forms/form.tsx";
import { segmentSpeakerKey, speakerKey, speakerReference } from "../../common/speakers.ts";
import { useRecording } from "../context.ts";
import { noVoice, RememberVoice, SoundsLike } from "./remember-voice.tsx";
import { useTranscriptEdit } from "./use-edit.ts";

type Action = "rename" | "merge" | "assign";

/** Renames a speaker, merges it with another, or reassigns lines. */
export function SpeakerDialog(props: {
  transcript: Transcript;
  /** The segment it was opened from; null while closed. */
  segment: Segment | null;
  onClose: () => void;
}) {
  const { t } = useLingui();
  const { transcript, segment, onClose } = props;
  return (
    <FormDialog opened={segment !== null} onClose={onClose} title={t`Who is speaking?`}>
      {segment === null ? null : <SpeakerForm transcript={transcript} segment={segment} onClose={onClose} />}
    </FormDialog>
  );
}

function SpeakerForm(props: { transcript: Transcript; segment: Segment; onClose: () => void }) {
  const { t } = useLingui();
  const { transcript, segment, onClose } = props;
  const { id, view, actions } = useRecording();
  const voice = useQuery(voicesQuery(id)).data?.voices.find(({ speaker }) => speaker === segment.speaker);
  const [choice, setChoice] = useState(noVoice);
  const edit = useTranscriptEdit();
  const [action, setAction] = useState<Action>("rename");
  const [name, setName] = useState(segment.speaker);
  const [other, setOther] = useState<string | null>(null);
  const { speaker } = segment;
  const me = { participant_id: segment.participant_id, name: segment.speaker };
  const others = otherSpeakers(transcript, view.participants, segmentSpeakerKey(segment));
  const turn = turnOf(transcript.segments, segment);
  const target = others.find((person) => speakerKey(person) === other);
  const isReady =
    action === "rename" ? name.trim() !== "" && name.trim() !== segment.speaker : target !== undefined;

  const newName = action === "rename" ? name.trim() : (target?.name ?? "");
  const asksForConsent = choice.remembers && !choice.hasConsent;
  // Before the edit: afterwards the speaker has no voice.
  const remember = async (): Promise<void> => {
    if (action === "assign" || voice === undefined || !choice.hasConsent) return;
    const email = view.participants.find((person) => person.id === target?.participant_id)?.email;
    await actions.rememberVoice({
      speaker: segment.speaker,
      name: newName,
      consent: true,
      ...(action === "merge" && email ? { email } : {}),
    });
    // The voice is remembered even if the edit is refused, and repeating that must not remember it again.
    setChoice(noVoice);
  };

  const submit = (): void => {
    const finish = { onSuccess: onClose };
    if (action === "rename")
      edit.mutate(
        {
          run: async (version) => {
            await remember();
            return actions.renameSpeaker(version, speakerReference(me), name.trim());
          },
          done: () => t`Renamed ${speaker} to ${{ name: name.trim() }}`,
        },
        finish,
      );
    else if (target !== undefined && action === "merge")
      edit.mutate(
        {
          run: async (version) => {
            await remember();
            return actions.mergeSpeakers(version, [speakerReference(me)], speakerReference(target));
          },
          done: () => t`Merged ${speaker} with ${{ name: target.name }}`,
        },
        finish,
      );
    else if (target !== undefined)
      edit.mutate(
        {
          run: (version) => actions.assign(version, turn, speakerReference(target)),
          done: ({ segments_changed }) =>
            plural(
              { count: segments_changed },
              {
                one: `# line is now said by ${{ name: target.name }}`,
                other: `# lines are now said by ${{ name: target.name }}`,
              },
            ),
        },
        finish,
      );
  };
  return (
    <Form
      form={{ isPending: edit.isPending, submit }}
      label={t`Change`}
      onCancel={onClose}
      isDisabled={!isReady || asksForConsent}
    >
      <Radio.Group
        aria-label={t`What to change`}
        value={action}
        onChange={(value) => {
          setAction(value as Action);
          edit.reset();
        }}
      >
        <Stack gap="xs">
          <Radio value="rename" label={t`Rename ${speaker} everywhere`} />
          <Radio
            value="merge"
            label={t`Merge ${speaker} with another speaker`}
            disabled={others.length === 0}
          />
          <Radio
            value="assign"
            label={plural(
              { count: turn.length },
              {
                one: "Change speaker for this line only",
                other: "Change speaker for these # lines only",
              },
            )}
            disabled={others.length === 0}
          />
        </Stack>
      </Radio.Group>
      {action === "rename" ? (
        <TextInput
          label={t`Name`}
          value={name}
          maxLength={320}
          dir="auto"
          data-autofocus
          onChange={(event) => setName(event.currentTarget.value)}
        />
      ) : (
        <Select
          label={t`Speaker`}
          searchable
          placeholder={t`Choose a speaker`}
          data={others.map((person) => ({ value: speakerKey(person), label: person.name }))}
          value={other}
          onChange={setOther}
        />
      )}
      {action === "rename" && voice?.sounds_like && name.trim() !== voice.sounds_like.name ? (
        <SoundsLike
          name={voice.sounds_like.name}
          onConfirm={() => setName(voice.sounds_like?.name ?? name)}
        />
      ) : null}
      {voice !== undefined && action !== "assign" && isReady && view.can.edit_transcript ? (
        <RememberVoice name={newName} value={choice} onChange={setChoice} />
      ) : null}
      {action === "merge" ? (
        <Text size="sm" c="dimmed">
          <Trans>The speakers are merged. You can undo this.</Trans>
        </Text>
      ) : null}
    </Form>
  );
}

interface Candidate {
  readonly participant_id: string | null;
  readonly name: string;
}

/** All speakers and participants except the current one. */
function otherSpeakers(
  transcript: Transcript,
  participants: readonly { readonly id: string; readonly name: string }[],
  key: string,
): Candidate[] {
  const people = new Map<string, Candidate>();
  for (const person of [
    ...transcript.speakers,
    ...participants.map(({ id, name }) => ({ participant_id: id, name })),
  ])
    people.set(speakerKey(person), person);
  people.delete(key);
  return [...people.values()];
}

/** The indexes of the turn around a line: consecutive lines of the same speaker. */
function turnOf(segments: readonly Segment[], segment: Segment): number[] {
  const key = segmentSpeakerKey(segment);
  const isSame = (index: number): boolean => {
    const other = segments[index];
    return other !== undefined && segmentSpeakerKey(other) === key;
  };
  const here = segments.indexOf(segment);
  let [first, last] = [here, here];
  while (isSame(first - 1)) first--;
  while (isSame(last + 1)) last++;
  return segments.slice(first, last + 1).map(({ index }) => index);
}
