import { Avatar, Badge, Group, Progress, Stack, Text } from "@mantine/core";
import { IconUsers } from "@tabler/icons-react";
import type { Transcript, View } from "../../api/recording.ts";
import { initials } from "../../common/person.ts";
import { EmptyState } from "../../common/states.tsx";
import { lengthInWords, timeOfDay } from "../../common/time.ts";
import { useRecording } from "../context.ts";
import { byTalk, colorsOf, speakerKey, talkShare } from "../speakers.ts";
import classes from "./panels.module.css";

type Participant = View["participants"][number];

const scopes = { internal: "Team", external: "Guest", unknown: null } as const;

/** Who took part, how long, and how much they said; and who speaks without being known. */
export function PeoplePanel({ transcript }: { transcript: Transcript | undefined }) {
  const { participants } = useRecording().view;
  const speakers = transcript?.speakers ?? [];
  const colors = colorsOf(speakers);
  const known = new Set(participants.map(({ id }) => id));
  const others = byTalk(speakers).filter(({ participant_id: id }) => id === null || !known.has(id));
  if (participants.length === 0 && others.length === 0)
    return (
      <EmptyState title="Nobody is named" icon={<IconUsers size={30} stroke={1.5} />}>
        It isn't known who took part in this recording.
      </EmptyState>
    );
  const talkOf = (id: string): number =>
    speakers.find(({ participant_id }) => participant_id === id)?.duration_ms ?? 0;
  const sorted = participants.toSorted((a, b) => talkOf(b.id) - talkOf(a.id));
  const rows = [
    ...sorted.map((person) => ({
      key: person.id,
      name: person.name,
      facts: factsOf(person),
      badge: scopes[person.scope],
      speaker: speakers.find(({ participant_id }) => participant_id === person.id),
    })),
    ...others.map((speaker) => ({
      key: speakerKey(speaker),
      name: speaker.name,
      facts: ["Speaks, and is not among the participants"],
      badge: null,
      speaker,
    })),
  ];
  return (
    <ul className={classes.plainList}>
      {rows.map(({ key, name, facts, badge, speaker }) => (
        <li key={key}>
          <Group gap="sm" wrap="nowrap" className={classes.item ?? ""}>
            <Avatar
              radius="xl"
              variant="default"
              aria-hidden
              style={{ "--avatar-bd": `2px solid var(--mantine-color-${colors.get(key) ?? "gray"}-filled)` }}
            >
              {initials(name)}
            </Avatar>
            <Stack gap={2} flex={1} miw={0}>
              <Group gap={8} wrap="nowrap" miw={0}>
                <Text fw={500} dir="auto" truncate miw={0} title={name}>
                  {name}
                </Text>
                {badge === null ? null : (
                  <Badge variant="default" size="sm" tt="none" fw={500} flex="none">
                    {badge}
                  </Badge>
                )}
              </Group>
              <Text size="sm" c="dimmed" className={classes.breakable ?? ""}>
                {facts.join(" · ")}
              </Text>
            </Stack>
            {speaker === undefined ? null : (
              <Stack gap={4} w={110} flex="none">
                <Text size="sm" ta="right">
                  {lengthInWords(speaker.duration_ms)} · {talkShare(speaker, speakers)}%
                </Text>
                <Progress
                  value={talkShare(speaker, speakers)}
                  color={colors.get(key) ?? "gray"}
                  size="sm"
                  aria-label={`Share of all talk of ${name}`}
                />
              </Stack>
            )}
          </Group>
        </li>
      ))}
    </ul>
  );
}

function factsOf(person: Participant): string[] {
  const { observed_join_time: join, observed_leave_time: leave } = person;
  return [
    ...(person.email === null ? [] : [person.email]),
    ...(person.phone === null ? [] : [person.phone]),
    person.confirmed_attendee
      ? "was there"
      : person.attended
        ? "took part, as far as is known"
        : "was invited",
    ...(join === null ? [] : [`from ${timeOfDay(join)}`]),
    ...(leave === null ? [] : [`until ${timeOfDay(leave)}`]),
  ];
}
