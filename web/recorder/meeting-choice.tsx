import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Stack, Text } from "@mantine/core";
import { IconCheck } from "@tabler/icons-react";
import type { Meeting } from "../api/calendars.ts";
import { MeetingList, NotesButton, titleOf } from "../common/lists/meeting-list.tsx";

/** The next meetings of today; the chosen one fills in the fields of the dialog. */
export function MeetingChoice({
  today,
  chosen,
  onChoose,
  onLeave,
}: {
  today: readonly Meeting[];
  chosen: Meeting | null;
  onChoose: (meeting: Meeting | null) => void;
  onLeave: () => void;
}) {
  const { t } = useLingui();
  const shown = chosen === null || today.some(({ id }) => id === chosen.id) ? today : [chosen, ...today];
  if (shown.length === 0) return null;
  return (
    <Stack gap={6}>
      <Text size="sm" fw={500}>
        <Trans>Next meetings of today</Trans>
      </Text>
      <MeetingList
        label={t`Next meetings`}
        meetings={shown}
        action={(meeting) => {
          const isChosen = meeting.id === chosen?.id;
          return (
            <>
              <NotesButton meeting={meeting} onOpen={onLeave} />
              <Button
                size="xs"
                variant={isChosen ? "light" : "default"}
                leftSection={isChosen ? <IconCheck size={16} aria-hidden /> : null}
                aria-pressed={isChosen}
                aria-label={
                  isChosen
                    ? t`Chosen: ${{ title: titleOf(meeting) }}`
                    : t`Choose ${{ title: titleOf(meeting) }}`
                }
                onClick={() => onChoose(isChosen ? null : meeting)}
              >
                {isChosen ? <Trans>Chosen</Trans> : <Trans>Choose</Trans>}
              </Button>
            </>
          );
        }}
      />
    </Stack>
  );
}

/** A meeting can be recorded this long before it starts. */
const earlyMs = 10 * 60_000;

/** The one meeting that takes place now or starts soon. Null: there are several, or it is private, which fills in nothing. */
export function findCurrentMeeting(meetings: readonly Meeting[], now: number): Meeting | null {
  const [current, ...others] = meetings.filter(
    ({ start_datetime: start, end_datetime: end }) =>
      Date.parse(start) <= now + earlyMs && Date.parse(end) > now,
  );
  return current === undefined || current.is_private || others.length > 0 ? null : current;
}
