import { msg } from "@lingui/core/macro";
import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Button, Collapse, Group, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type RecordingMeeting, recordingMeetingQuery } from "../../api/calendars.ts";
import { namesInSentence } from "../../common/format/names.ts";
import { whenInLine } from "../../common/format/time.ts";
import { recordingUrl } from "../../common/recording-url.ts";
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
          {isMatched ? (
            <WhatItGave meeting={data} />
          ) : (
            <Trans>
              A meeting in a calendar can give this recording its title, people and scheduled time.
            </Trans>
          )}
        </Text>
        <Group gap="xs">
          {isMatched ? (
            <Button size="xs" variant="default" loading={undo.isPending} onClick={() => undo.mutate(data)}>
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
      <OtherRecordings others={data.other_recordings} />
      <Collapse expanded={isOpen}>
        <Candidates candidates={data.candidates} chosen={data.meeting_id} />
      </Collapse>
    </Stack>
  );
}

const parts = {
  title: msg({ message: "title", context: "from a meeting in a calendar" }),
  participants: msg({ message: "people", context: "from a meeting in a calendar" }),
  scheduled_times: msg({ message: "scheduled time", context: "from a meeting in a calendar" }),
} as const;

/** What the recording has from its meeting, and who chose the meeting. */
function WhatItGave({ meeting }: { meeting: RecordingMeeting }) {
  const { t } = useLingui();
  const list = namesInSentence(meeting.parts.map((part) => t(parts[part])));
  return (
    <>
      {meeting.parts.length === 0 ? (
        <Trans>Linked to a meeting in a calendar.</Trans>
      ) : (
        <Trans>From a meeting in a calendar: {list}.</Trans>
      )}{" "}
      {meeting.is_chosen ? <Trans>A user chose the meeting.</Trans> : null}
    </>
  );
}

/** The other recordings of the meeting, as where it had a break. */
function OtherRecordings({ others }: { others: RecordingMeeting["other_recordings"] }) {
  if (others.length === 0) return null;
  return (
    <Text size="sm">
      <Plural
        value={others.length}
        one="Another recording of this meeting:"
        other="# other recordings of this meeting:"
      />{" "}
      {others.map(({ id, title, start_datetime: start }, index) => (
        <span key={id}>
          {index === 0 ? null : "; "}
          <Anchor component={Link} to={recordingUrl(id)} inherit underline="always" dir="auto">
            {title}
          </Anchor>
          , {whenInLine(start)}
        </span>
      ))}
    </Text>
  );
}
