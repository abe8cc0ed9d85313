import { Button, Group, Modal, Radio, Select, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Segment, Transcript } from "../../api/recording.ts";
import { useRecording } from "../context.ts";
import { segmentSpeakerKey, speakerKey, speakerReference } from "../speakers.ts";
import { useTranscriptEdit } from "./use-edit.ts";

type Way = "rename" | "merge" | "assign";

/** Who speaks: another name, somebody else altogether, or somebody else in this one place. */
export function SpeakerDialog(props: {
  transcript: Transcript;
  /** Where it was asked for; null: closed. */
  segment: Segment | null;
  onClose: () => void;
}) {
  const { transcript, segment, onClose } = props;
  return (
    <Modal opened={segment !== null} onClose={onClose} title="Who is speaking?">
      {segment === null ? null : <Form transcript={transcript} segment={segment} onClose={onClose} />}
    </Modal>
  );
}

function Form(props: { transcript: Transcript; segment: Segment; onClose: () => void }) {
  const { transcript, segment, onClose } = props;
  const { view, actions } = useRecording();
  const edit = useTranscriptEdit();
  const [way, setWay] = useState<Way>("rename");
  const [name, setName] = useState(segment.speaker);
  const [other, setOther] = useState<string | null>(null);
  const me = { participant_id: segment.participant_id, name: segment.speaker };
  const others = otherPeople(transcript, view.participants, segmentSpeakerKey(segment));
  const turn = turnOf(transcript.segments, segment);
  const target = others.find((person) => speakerKey(person) === other);
  const isReady =
    way === "rename" ? name.trim() !== "" && name.trim() !== segment.speaker : target !== undefined;

  const submit = (event: React.FormEvent): void => {
    event.preventDefault();
    if (!isReady) return;
    const finish = { onSuccess: onClose };
    if (way === "rename")
      edit.mutate(
        {
          run: (version) => actions.renameSpeaker(version, speakerReference(me), name.trim()),
          done: () => `${segment.speaker} is now called ${name.trim()}`,
        },
        finish,
      );
    else if (target !== undefined && way === "merge")
      edit.mutate(
        {
          run: (version) => actions.mergeSpeakers(version, [speakerReference(me)], speakerReference(target)),
          done: () => `All that ${segment.speaker} said is now said by ${target.name}`,
        },
        finish,
      );
    else if (target !== undefined)
      edit.mutate(
        {
          run: (version) => actions.assign(version, turn, speakerReference(target)),
          done: ({ segments_changed }) =>
            `${segments_changed} ${segments_changed === 1 ? "line is" : "lines are"} now said by ${target.name}`,
        },
        finish,
      );
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Radio.Group
          aria-label="What to change"
          value={way}
          onChange={(value) => {
            setWay(value as Way);
            edit.reset();
          }}
        >
          <Stack gap="xs">
            <Radio value="rename" label={`Another name for ${segment.speaker}, everywhere`} />
            <Radio
              value="merge"
              label={`${segment.speaker} is somebody else here, everywhere`}
              disabled={others.length === 0}
            />
            <Radio
              value="assign"
              label={
                turn.length === 1
                  ? "Only this line is somebody else's"
                  : `Only these ${turn.length} lines are somebody else's`
              }
              disabled={others.length === 0}
            />
          </Stack>
        </Radio.Group>
        {way === "rename" ? (
          <TextInput
            label="Name"
            value={name}
            maxLength={320}
            dir="auto"
            data-autofocus
            onChange={(event) => setName(event.currentTarget.value)}
          />
        ) : (
          <Select
            label="Said by"
            searchable
            placeholder="Choose a person"
            data={others.map((person) => ({ value: speakerKey(person), label: person.name }))}
            value={other}
            onChange={setOther}
          />
        )}
        {way === "merge" ? (
          <Text size="sm" c="dimmed">
            The two become one speaker. It can be taken back.
          </Text>
        ) : null}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" disabled={!isReady} loading={edit.isPending}>
            Change
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface Person {
  readonly participant_id: string | null;
  readonly name: string;
}

/** Everybody who speaks or takes part, but the one it is about. */
function otherPeople(
  transcript: Transcript,
  participants: readonly { readonly id: string; readonly name: string }[],
  key: string,
): Person[] {
  const people = new Map<string, Person>();
  for (const person of [
    ...transcript.speakers,
    ...participants.map(({ id, name }) => ({ participant_id: id, name })),
  ])
    people.set(speakerKey(person), person);
  people.delete(key);
  return [...people.values()];
}

/** The lines around one that the same speaker says in one go. */
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
