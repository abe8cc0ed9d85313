import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Button, Group, Menu, Stack, Text, TextInput } from "@mantine/core";
import {
  IconCheck,
  IconDots,
  IconPencil,
  IconSearch,
  IconTrash,
  IconUserPlus,
  IconUsers,
} from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import {
  type Participant,
  refreshRecording,
  type Speaker,
  type Transcript,
} from "../../api/recording/recording.ts";
import { useAction } from "../../common/actions.tsx";
import { timeOfDay } from "../../common/format/time.ts";
import { byTalk, colorsOf, speakerKey } from "../../common/speakers.ts";
import { EmptyState } from "../../common/states.tsx";
import { useRecording } from "../context.ts";
import { ParticipantDialogs } from "../dialogs.ts";
import classes from "./panels.module.css";
import type { ParticipantTask } from "./participant-dialogs.tsx";
import { ParticipantRow } from "./participant-row.tsx";

/** More are shown on demand, and can be searched by name. */
const maxCollapsedPeople = 50;
const maxPeople = 500;

const scopes = {
  internal: {
    name: msg({ message: "Team", context: "participant" }),
    means: msg`Email domain of this workspace`,
  },
  external: { name: msg({ message: "Guest", context: "participant" }), means: msg`Other email domain` },
  unknown: { name: msg({ message: "Unknown", context: "participant" }), means: msg`No email address` },
} as const satisfies Record<Participant["scope"], Readonly<Record<"name" | "means", MessageDescriptor>>>;

interface Row {
  readonly key: string;
  readonly name: string;
  readonly facts: readonly string[];
  readonly scope: { readonly name: string; readonly means: string } | null;
  readonly speaker: Speaker | undefined;
  readonly person: Participant | null;
}

/** Participants with their talk time, and speakers who are not participants. */
export function ParticipantsPanel({ transcript }: { transcript: Transcript | undefined }) {
  const { t } = useLingui();
  const { view } = useRecording();
  const { participants, can } = view;
  const [task, setTask] = useState<ParticipantTask | null>(null);
  const [query, setQuery] = useState("");
  const [isAll, setAll] = useState(false);
  const speakers = transcript?.speakers ?? [];
  const colors = colorsOf(speakers);
  const rows = rowsOf(participants, speakers);
  const found = rows.filter(({ name, facts }) => isFound([name, ...facts], query));
  const shown = isAll ? found : found.slice(0, maxCollapsedPeople);
  const isFull = participants.length >= maxPeople;
  const add = can.change ? (
    <Button
      size="xs"
      variant="light"
      leftSection={<IconUserPlus size={16} aria-hidden />}
      disabled={isFull}
      onClick={() => setTask({ kind: "add" })}
    >
      <Trans>Add person</Trans>
    </Button>
  ) : null;
  return (
    <>
      {rows.length === 0 ? (
        <EmptyState
          title={t`No participants yet`}
          icon={<IconUsers size={30} stroke={1.5} />}
          {...(add === null ? {} : { action: add })}
        >
          <Trans>Add the people who attended.</Trans>
        </EmptyState>
      ) : (
        <Stack gap="xs">
          <Group justify="space-between" gap="xs">
            {rows.length > 10 ? (
              <TextInput
                size="xs"
                aria-label={t`Search people`}
                placeholder={plural(
                  { count: rows.length },
                  { one: "Search # person", other: "Search # people" },
                )}
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
              <Plural
                value={maxPeople}
                one="The limit of # participant is reached."
                other="The limit of # participants is reached."
              />
            </Text>
          ) : null}
          <ul className={classes.plainList} aria-label={t`People`}>
            {shown.map((row) => (
              <li key={row.key}>
                <ParticipantRow
                  {...row}
                  color={colors.get(row.key) ?? "gray"}
                  speakers={speakers}
                  below={
                    can.change && row.person?.is_invited ? <ConfirmAttendance person={row.person} /> : null
                  }
                >
                  {can.change ? <RowActions row={row} onTask={setTask} isFull={isFull} /> : null}
                </ParticipantRow>
              </li>
            ))}
          </ul>
          {found.length === 0 ? (
            <Text size="sm" c="dimmed" ta="center" p="md" role="status">
              <Trans>No matches</Trans>
            </Text>
          ) : null}
          {shown.length < found.length ? (
            <Button variant="subtle" size="xs" onClick={() => setAll(true)}>
              {plural({ count: found.length }, { one: "Show # person", other: "Show all # people" })}
            </Button>
          ) : null}
        </Stack>
      )}
      <ParticipantDialogs
        task={task}
        otherSpeakers={rows.flatMap(({ person, speaker }) => (person === null && speaker ? [speaker] : []))}
        onClose={() => setTask(null)}
      />
    </>
  );
}

/** Makes an invited person one who attended, which gives access to users of the workspace. */
function ConfirmAttendance({ person }: { person: Participant }) {
  const { t } = useLingui();
  const { id, actions } = useRecording();
  const client = useQueryClient();
  const { name, lacks_access: lacksAccess } = person;
  const confirm = useAction({
    run: async () => {
      await actions.updateParticipant(person.id, { attended: true });
      await refreshRecording(client, id);
    },
    done: lacksAccess ? t`${name} can now see this recording` : t`Attendance confirmed`,
  });
  return (
    <Group gap="xs" mt={4}>
      <Button
        size="compact-sm"
        variant="light"
        leftSection={<IconCheck size={16} aria-hidden />}
        aria-label={t`Confirm attendance of ${name}`}
        loading={confirm.isPending}
        onClick={() => confirm.mutate()}
      >
        <Trans>Confirm attendance</Trans>
      </Button>
      {lacksAccess ? (
        <Text size="sm">
          <Trans>They can then see this recording.</Trans>
        </Text>
      ) : null}
    </Group>
  );
}

function RowActions({
  row,
  onTask,
  isFull,
}: {
  row: Row;
  onTask: (task: ParticipantTask) => void;
  isFull: boolean;
}) {
  const { t } = useLingui();
  const { person, speaker, name } = row;
  if (person === null)
    return (
      <Button
        size="compact-sm"
        variant="default"
        flex="none"
        disabled={isFull}
        aria-label={t`Add ${name} as participant`}
        onClick={() => onTask({ kind: "add", ...(speaker === undefined ? {} : { speaker }) })}
      >
        <Trans>Add</Trans>
      </Button>
    );
  return (
    <Menu position="bottom-end" width={180}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" flex="none" aria-label={t`Actions for ${name}`}>
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconPencil size={16} />} onClick={() => onTask({ kind: "change", person })}>
          <Trans>Edit</Trans>
        </Menu.Item>
        <Menu.Item
          c="var(--mantine-color-error)"
          leftSection={<IconTrash size={16} />}
          onClick={() => onTask({ kind: "remove", person })}
        >
          <Trans>Remove</Trans>
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
        scope: { name: i18n._(scopes[person.scope].name), means: i18n._(scopes[person.scope].means) },
        speaker: byKey.get(person.id),
        person,
      })),
    ...byTalk(speakers)
      .filter(({ participant_id: id }) => id === null || !known.has(id))
      .map((speaker) => ({
        key: speakerKey(speaker),
        name: speaker.name,
        facts: [t`Speaker, not a participant`],
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

function attendanceOf(person: Participant): string {
  if (person.lacks_access) return t`invited, without access`;
  return person.confirmed_attendee ? t`attended` : person.attended ? t`likely attended` : t`invited`;
}

function factsOf(person: Participant): string[] {
  const { observed_join_time: join, observed_leave_time: leave } = person;
  return [
    ...(person.email === null || person.email === person.name ? [] : [person.email]),
    ...(person.phone === null || person.phone === person.name ? [] : [person.phone]),
    attendanceOf(person),
    ...(join === null
      ? []
      : [
          t({
            message: `from ${{ time: timeOfDay(join) }}`,
            comment: "when a participant joined the meeting",
            context: "meeting",
          }),
        ]),
    ...(leave === null
      ? []
      : [
          t({
            message: `until ${{ time: timeOfDay(leave) }}`,
            comment: "when a participant left the meeting",
          }),
        ]),
    ...(person.crm_contact_id === null ? [] : [t`CRM ${{ id: person.crm_contact_id }}`]),
  ];
}
