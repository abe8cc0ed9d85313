import { ActionIcon, Button, Group, Menu, Stack, Text, TextInput } from "@mantine/core";
import { IconDots, IconPencil, IconSearch, IconTrash, IconUserPlus, IconUsers } from "@tabler/icons-react";
import { useState } from "react";
import type { Participant, Speaker, Transcript } from "../../api/recording.ts";
import { EmptyState } from "../../common/states.tsx";
import { timeOfDay } from "../../common/time.ts";
import { useRecording } from "../context.ts";
import { PersonDialogs } from "../dialogs.ts";
import { byTalk, colorsOf, speakerKey } from "../speakers.ts";
import classes from "./panels.module.css";
import type { PersonTask } from "./person-dialogs.tsx";
import { PersonRow } from "./person-row.tsx";

/** More are shown when asked for, and can be looked for by name. */
const fewPeople = 50;
const mostPeople = 500;

const scopes = {
  internal: { name: "Team", means: "Has an email of this workspace" },
  external: { name: "Guest", means: "Has an email from elsewhere" },
  unknown: { name: "Unknown", means: "No email says where they are from" },
} as const;

interface Row {
  readonly key: string;
  readonly name: string;
  readonly facts: readonly string[];
  readonly scope: (typeof scopes)[keyof typeof scopes] | null;
  readonly speaker: Speaker | undefined;
  readonly person: Participant | null;
}

/** Who took part, how long, and how much they said; and who speaks without being known. */
export function PeoplePanel({ transcript }: { transcript: Transcript | undefined }) {
  const { view } = useRecording();
  const { participants, can } = view;
  const [task, setTask] = useState<PersonTask | null>(null);
  const [query, setQuery] = useState("");
  const [isAll, setAll] = useState(false);
  const speakers = transcript?.speakers ?? [];
  const colors = colorsOf(speakers);
  const rows = rowsOf(participants, speakers);
  const found = rows.filter(({ name, facts }) => isFound([name, ...facts], query));
  const shown = isAll ? found : found.slice(0, fewPeople);
  const isFull = participants.length >= mostPeople;
  const add = can.change ? (
    <Button
      size="xs"
      variant="light"
      leftSection={<IconUserPlus size={16} aria-hidden />}
      disabled={isFull}
      onClick={() => setTask({ kind: "add" })}
    >
      Add somebody
    </Button>
  ) : null;
  return (
    <>
      {rows.length === 0 ? (
        <EmptyState
          title="Nobody is named"
          icon={<IconUsers size={30} stroke={1.5} />}
          {...(add === null ? {} : { action: add })}
        >
          It isn't known who took part in this recording.
        </EmptyState>
      ) : (
        <Stack gap="xs">
          <Group justify="space-between" gap="xs">
            {rows.length > 10 ? (
              <TextInput
                size="xs"
                aria-label="Find people"
                placeholder={`Find among ${rows.length} people`}
                leftSection={<IconSearch size={14} aria-hidden />}
                value={query}
                onChange={(event) => setQuery(event.currentTarget.value)}
              />
            ) : (
              <span />
            )}
            {add}
          </Group>
          {isFull && can.change ? (
            <Text size="sm" c="dimmed">
              More than {mostPeople} people can't be listed.
            </Text>
          ) : null}
          <ul className={classes.plainList} aria-label="People">
            {shown.map((row) => (
              <li key={row.key}>
                <PersonRow {...row} color={colors.get(row.key) ?? "gray"} speakers={speakers}>
                  {can.change ? <RowActions row={row} onTask={setTask} isFull={isFull} /> : null}
                </PersonRow>
              </li>
            ))}
          </ul>
          {found.length === 0 ? (
            <Text size="sm" c="dimmed" ta="center" p="md" role="status">
              Nobody here is called that.
            </Text>
          ) : null}
          {shown.length < found.length ? (
            <Button variant="subtle" size="xs" onClick={() => setAll(true)}>
              Show all {found.length} people
            </Button>
          ) : null}
        </Stack>
      )}
      <PersonDialogs
        task={task}
        strangers={rows.flatMap(({ person, speaker }) => (person === null && speaker ? [speaker] : []))}
        onClose={() => setTask(null)}
      />
    </>
  );
}

function RowActions({
  row,
  onTask,
  isFull,
}: {
  row: Row;
  onTask: (task: PersonTask) => void;
  isFull: boolean;
}) {
  const { person, speaker, name } = row;
  if (person === null)
    return (
      <Button
        size="compact-sm"
        variant="default"
        flex="none"
        disabled={isFull}
        aria-label={`Add ${name} to the participants`}
        onClick={() => onTask({ kind: "add", ...(speaker === undefined ? {} : { speaker }) })}
      >
        Add
      </Button>
    );
  return (
    <Menu position="bottom-end" width={180}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" flex="none" aria-label={`More for ${name}`}>
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconPencil size={16} />} onClick={() => onTask({ kind: "change", person })}>
          Change
        </Menu.Item>
        <Menu.Item
          c="var(--mantine-color-error)"
          leftSection={<IconTrash size={16} />}
          onClick={() => onTask({ kind: "remove", person })}
        >
          Remove
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function rowsOf(participants: readonly Participant[], speakers: readonly Speaker[]): Row[] {
  const byKey = new Map(speakers.map((speaker) => [speakerKey(speaker), speaker] as const));
  const known = new Set(participants.map(({ id }) => id));
  const talkOf = (id: string): number => byKey.get(id)?.duration_ms ?? 0;
  return [
    ...participants
      .toSorted((a, b) => talkOf(b.id) - talkOf(a.id))
      .map((person) => ({
        key: person.id,
        name: person.name,
        facts: factsOf(person),
        scope: scopes[person.scope],
        speaker: byKey.get(person.id),
        person,
      })),
    ...byTalk(speakers)
      .filter(({ participant_id: id }) => id === null || !known.has(id))
      .map((speaker) => ({
        key: speakerKey(speaker),
        name: speaker.name,
        facts: ["Speaks, and is not among the participants"],
        scope: null,
        speaker,
        person: null,
      })),
  ];
}

const fold = (text: string): string => text.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase();

function isFound(texts: readonly string[], query: string): boolean {
  const wanted = fold(query.trim());
  return wanted === "" || texts.some((text) => fold(text).includes(wanted));
}

function factsOf(person: Participant): string[] {
  const { observed_join_time: join, observed_leave_time: leave } = person;
  return [
    ...(person.email === null || person.email === person.name ? [] : [person.email]),
    ...(person.phone === null || person.phone === person.name ? [] : [person.phone]),
    person.confirmed_attendee
      ? "was there"
      : person.attended
        ? "took part, as far as is known"
        : "was invited",
    ...(join === null ? [] : [`from ${timeOfDay(join)}`]),
    ...(leave === null ? [] : [`until ${timeOfDay(leave)}`]),
    ...(person.crm_contact_id === null ? [] : [`in the CRM ${person.crm_contact_id}`]),
  ];
}
