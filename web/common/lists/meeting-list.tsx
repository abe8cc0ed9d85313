import { t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Badge, Button, Group, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Meeting } from "../../api/calendars.ts";
import { namesInLine } from "../format/names.ts";
import { timeOfDay } from "../format/time.ts";
import classes from "./meeting-list.module.css";
import { useNow } from "./use-now.ts";

/** More are rarely of interest at a time. */
const maxShown = 5;

/** Meetings, each with an action. */
export function MeetingList(props: {
  label: string;
  meetings: readonly Meeting[];
  /** The actions of a meeting. */
  action: (meeting: Meeting) => ReactNode;
}) {
  return (
    <ul className={classes.meetings} aria-label={props.label}>
      {props.meetings.slice(0, maxShown).map((meeting) => (
        <li key={meeting.id}>
          <div className={classes.facts}>
            <Text fw={500} dir="auto">
              {titleOf(meeting)}
            </Text>
            <Text size="sm" c="dimmed">
              <Hours meeting={meeting} />
              {meeting.attendees.length === 0 ? null : (
                <span dir="auto">
                  {" "}
                  · {namesInLine(peopleOf(meeting).map(({ name, email }) => name ?? email ?? ""))}
                </span>
              )}
            </Text>
          </div>
          <Group gap="xs" wrap="nowrap">
            {props.action(meeting)}
          </Group>
        </li>
      ))}
    </ul>
  );
}

/** Opens a meeting to write notes for it. */
export function NotesButton({ meeting, onOpen }: { meeting: Meeting; onOpen?: (() => void) | undefined }) {
  const { t } = useLingui();
  const title = titleOf(meeting);
  return (
    <Button
      component={Link}
      to={`/meetings/${meeting.id}`}
      size="xs"
      variant="subtle"
      aria-label={t`Notes for ${title}`}
      onClick={onOpen}
    >
      <Trans>Notes</Trans>
    </Button>
  );
}

export function titleOf({ title, is_private: isPrivate }: Pick<Meeting, "title" | "is_private">): string {
  return title ?? (isPrivate ? t`Private event` : t`Event without a title`);
}

/** The accessible name of a button that records a meeting. */
export function recordLabel(meeting: Meeting): string {
  const title = titleOf(meeting);
  return t`Record ${title}`;
}

/** When a meeting takes place, marked if that is now. */
export function Hours({ meeting }: { meeting: Meeting }) {
  const now = useNow();
  const isNow = Date.parse(meeting.start_datetime) <= now && now < Date.parse(meeting.end_datetime);
  return (
    <>
      {isNow ? (
        <Badge size="sm" variant="light" color="red" component="span" me={6}>
          <Trans context="meeting">Now</Trans>
        </Badge>
      ) : null}
      {hoursOf(meeting)}
    </>
  );
}

/** `14:00 – 15:00`. */
export function hoursOf({ start_datetime: start, end_datetime: end }: Meeting): string {
  return `${timeOfDay(start)} – ${timeOfDay(end)}`;
}

/** The people who are expected and have a name or an email. */
export function peopleOf({ attendees }: Meeting): Meeting["attendees"] {
  return attendees.filter(({ name, email }) => name !== null || email !== null);
}
