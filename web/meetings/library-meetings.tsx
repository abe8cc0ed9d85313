import { Anchor, Button, Text, Title } from "@mantine/core";
import { IconPlayerRecord } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { meetingsQuery } from "../api/calendars.ts";
import { MeetingList, NotesButton, titleOf } from "../common/lists/meeting-list.tsx";
import { useOpenRecorder } from "../record/context.tsx";

/** The next meetings of today in an empty library, to record them; without a calendar, how to see them. */
export function LibraryMeetings() {
  const { data } = useQuery(meetingsQuery);
  const record = useOpenRecorder();
  if (data === undefined) return null;
  if (!data.has_calendars && data.meetings.length === 0)
    return (
      <Text size="sm" c="dimmed" ta="center">
        <Anchor component={Link} to="/settings/calendars" inherit underline="always">
          Add your calendar
        </Anchor>{" "}
        to see your next meetings here.
      </Text>
    );
  return (
    <section aria-label="Next meetings of today">
      <Title order={2} size="h4" mb="sm">
        Next meetings of today
      </Title>
      {data.meetings.length === 0 ? (
        <Text c="dimmed">No more meetings today.</Text>
      ) : (
        <MeetingList
          label="Next meetings"
          meetings={data.meetings}
          action={(meeting) => (
            <>
              <NotesButton meeting={meeting} />
              <Button
                size="xs"
                leftSection={<IconPlayerRecord size={16} aria-hidden />}
                aria-label={`Record ${titleOf(meeting)}`}
                onClick={() => record(meeting)}
              >
                Record
              </Button>
            </>
          )}
        />
      )}
    </section>
  );
}
