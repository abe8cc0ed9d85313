import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Center, Group, Loader, Stack, Text, Title } from "@mantine/core";
import { IconPlayerRecord, IconVideo } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { maxMeetingNotes } from "../../contract/calendars/limits.ts";
import { type Meeting, meetingQuery, writeMeetingNotes } from "../api/calendars.ts";
import { namesInLine } from "../common/format/names.ts";
import { day } from "../common/format/time.ts";
import { hoursOf, peopleOf, titleOf } from "../common/lists/meeting-list.tsx";
import { SavedNotes } from "../common/notes/saved-notes.tsx";
import { BackLink, PageStack } from "../common/page-frame.tsx";
import { recordingUrl } from "../common/recording-url.ts";
import { ErrorState } from "../common/states.tsx";
import { useTitle } from "../common/use-title.ts";
import { useOpenRecorder } from "../recorder/context.tsx";

const route = getRouteApi("/signed-in/meetings/$meetingId");

/** A meeting before it is recorded, to write notes for it. */
export function MeetingPage() {
  const { t } = useLingui();
  const { meetingId } = route.useParams();
  const { data: meeting, error, refetch } = useQuery(meetingQuery(meetingId));
  useTitle(meeting === undefined ? undefined : titleOf(meeting));
  if (meeting !== undefined) return <Shown key={meetingId} meeting={meeting} />;
  if (error !== null) return <ErrorState error={error} retry={() => refetch()} />;
  return (
    <Center mih={320}>
      <Loader role="img" aria-label={t`Loading`} />
    </Center>
  );
}

function Shown({ meeting }: { meeting: Meeting }) {
  const { t } = useLingui();
  const { session } = route.useRouteContext();
  const record = useOpenRecorder();
  const people = peopleOf(meeting);
  return (
    <PageStack>
      <div>
        <BackLink to="/">{t`Library`}</BackLink>
        <Title order={1} size="h2" dir="auto" style={{ overflowWrap: "anywhere" }}>
          {titleOf(meeting)}
        </Title>
        <Text c="dimmed">
          {day(meeting.start_datetime)}, {hoursOf(meeting)}
        </Text>
        {people.length === 0 ? null : (
          <Text size="sm" c="dimmed" mt={4} dir="auto" style={{ overflowWrap: "anywhere" }}>
            {namesInLine(
              people.map(({ name, email }) => name ?? email ?? ""),
              people.length,
            )}
          </Text>
        )}
      </div>
      <Group>
        {meeting.recording_id !== null ? (
          <Button
            component={Link}
            to={recordingUrl(meeting.recording_id)}
            leftSection={<IconVideo size={18} aria-hidden />}
          >
            <Trans>Open recording</Trans>
          </Button>
        ) : session.user.role === "viewer" ? null : (
          <Button leftSection={<IconPlayerRecord size={18} aria-hidden />} onClick={() => record(meeting)}>
            <Trans>Record this meeting</Trans>
          </Button>
        )}
      </Group>
      <Stack gap={4} maw={720}>
        <SavedNotes
          name={`meeting-notes:${meeting.id}`}
          saved={meeting.notes ?? ""}
          maxLength={maxMeetingNotes}
          save={(text) => writeMeetingNotes(meeting.id, text)}
        />
        <Text size="sm" c="dimmed">
          <Trans>When this meeting is recorded, they become your private notes on the recording.</Trans>
        </Text>
      </Stack>
    </PageStack>
  );
}
