import { Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Button, Text, Title } from "@mantine/core";
import { IconPlayerRecord } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { meetingsQuery } from "../api/calendars.ts";
import { MeetingList, NotesButton, recordLabel } from "../common/lists/meeting-list.tsx";
import { useOpenRecorder } from "../recorder/context.tsx";

/** The next meetings of today in an empty library, to record them; without a calendar, how to see them. */
export function LibraryMeetings() {
  const { t } = useLingui();
  const { data } = useQuery(meetingsQuery);
  const record = useOpenRecorder();
  if (data === undefined) return null;
  if (!data.has_calendars && data.meetings.length === 0)
    return (
      <Text size="sm" c="dimmed" ta="center">
        <Trans>
          <Anchor component={Link} to="/settings/calendars" inherit underline="always">
            Add your calendar
          </Anchor>{" "}
          to see your next meetings here.
        </Trans>
      </Text>
    );
  return (
    <section aria-label={t`Next meetings of today`}>
      <Title order={2} size="h4" mb="sm">
        <Trans>Next meetings of today</Trans>
      </Title>
      {data.meetings.length === 0 ? (
        <Text c="dimmed">
          <Trans>No more meetings today.</Trans>
        </Text>
      ) : (
        <MeetingList
          label={t`Next meetings`}
          meetings={data.meetings}
          action={(meeting) => (
            <>
              <NotesButton meeting={meeting} />
              <Button
                size="xs"
                leftSection={<IconPlayerRecord size={16} aria-hidden />}
                aria-label={recordLabel(meeting)}
                onClick={() => record(meeting)}
              >
                <Trans context="verb">Record</Trans>
              </Button>
            </>
          )}
        />
      )}
    </section>
  );
}
