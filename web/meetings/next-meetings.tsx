import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Text, Title } from "@mantine/core";
import { IconPlayerRecord } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { meetingsQuery } from "../api/calendars.ts";
import { Hours, recordLabel, titleOf } from "../common/lists/meeting-list.tsx";
import { useNow } from "../common/lists/use-now.ts";
import { recordingUrl } from "../common/recording-url.ts";
import { useOpenRecorder } from "../recorder/context.tsx";
import classes from "./next-meetings.module.css";

/** More don't fit in one row. */
const maxShown = 3;

/** The next meetings of today in one row above the recordings, to record them. */
export function NextMeetings() {
  const { t } = useLingui();
  const { data } = useQuery(meetingsQuery);
  const now = useNow();
  const record = useOpenRecorder();
  if (data === undefined) return null;
  const next = data.meetings.filter(({ end_datetime: end }) => Date.parse(end) > now).slice(0, maxShown);
  return (
    <section className={classes.row} aria-label={t`Next meetings of today`}>
      <Title order={2} size="sm" className={classes.label}>
        <Trans>Next meetings</Trans>
      </Title>
      {next.length === 0 ? (
        <Text size="sm" c="dimmed">
          <Trans>No more meetings today.</Trans>
        </Text>
      ) : (
        <ul className={classes.meetings} aria-label={t`Next meetings`}>
          {next.map((meeting) => (
            <li key={meeting.id}>
              <div className={classes.facts}>
                <Link
                  to="/meetings/$meetingId"
                  params={{ meetingId: meeting.id }}
                  className={classes.title}
                  title={titleOf(meeting)}
                  dir="auto"
                >
                  {titleOf(meeting)}
                </Link>
                <Text size="xs" c="dimmed" truncate>
                  <Hours meeting={meeting} />
                </Text>
              </div>
              {meeting.recording_id === null ? (
                <Button
                  size="compact-sm"
                  variant="light"
                  color="red"
                  flex="none"
                  leftSection={<IconPlayerRecord size={14} aria-hidden />}
                  aria-label={recordLabel(meeting)}
                  onClick={() => record(meeting)}
                >
                  <Trans context="verb">Record</Trans>
                </Button>
              ) : (
                <Button
                  component={Link}
                  to={recordingUrl(meeting.recording_id)}
                  size="compact-sm"
                  variant="light"
                  flex="none"
                  aria-label={t`Recorded: ${{ title: titleOf(meeting) }}`}
                >
                  <Trans context="meeting">Recorded</Trans>
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
