import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Collapse, Group, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { recordingMeetingQuery } from "../../api/calendars.ts";
import { useRecording } from "../context.ts";
import { Candidates, useMeetingActions } from "./candidates.tsx";

/** Which meeting of a calendar the recording is, with undo and another choice. Nothing where no meeting fits. */
export function MeetingOfRecording() {
  const { t } = useLingui();
  const { id, view } = useRecording();
  const { data } = useQuery(recordingMeetingQuery(id, view.updated_datetime));
  const { undo } = useMeetingActions();
  const [isOpen, { toggle }] = useDisclosure();
  if (data === undefined || (data.state !== "matched" && data.candidates.length === 0)) return null;
  const isMatched = data.state === "matched";
  return (
    <Stack gap="xs" mb="md">
      <Group gap="xs" justify="space-between">
        <Text size="sm">
          {isMatched
            ? data.is_chosen
              ? t`Title, people and scheduled time are from a meeting in a calendar; a user chose it.`
              : t`Title, people and scheduled time are from a meeting in a calendar.`
            : t`A meeting in a calendar can give this recording its title, people and scheduled time.`}
        </Text>
        <Group gap="xs">
          {isMatched ? (
            <Button
              size="xs"
              variant="default"
              loading={undo.isPending}
              onClick={() => undo.mutate("matched")}
            >
              <Trans>Unlink meeting</Trans>
            </Button>
          ) : null}
          {data.candidates.length === 0 ? null : (
            <Button size="xs" variant="default" aria-expanded={isOpen} onClick={toggle}>
              {isMatched ? t`Change meeting` : t`Choose meeting`}
            </Button>
          )}
        </Group>
      </Group>
      <Collapse expanded={isOpen}>
        <Candidates candidates={data.candidates} chosen={isMatched ? data.ical_uid : null} />
      </Collapse>
    </Stack>
  );
}
