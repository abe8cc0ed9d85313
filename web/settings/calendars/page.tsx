import { plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Button } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { type Calendar, calendarsQuery, meetingsQuery, removeCalendar } from "../../api/calendars.ts";
import { sessionQuery } from "../../api/session.ts";
import { ServerText } from "../../common/format/server-text.tsx";
import { dayInLine, whenInLine } from "../../common/format/time.ts";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { titleOf } from "../../common/lists/meeting-list.tsx";
import { Loaded, NoneYet, Row, Rows, Section, SettingsPage, Tag } from "../parts.tsx";
import { CalendarDialog } from "./dialog.tsx";

const parent = getRouteApi("/signed-in");

type Added = "own" | "room" | null;

/** The user's calendars, and for admins those of rooms. */
export function CalendarsPage() {
  const { t } = useLingui();
  const { session } = parent.useRouteContext();
  const calendars = useQuery(calendarsQuery);
  const [added, setAdded] = useState<Added>(null);
  const isAdmin = session.user.role === "admin";
  const canAdd = session.user.role !== "viewer";
  const addButton = (what: "own" | "room", text: string) => (
    <Button
      variant={what === "own" ? "filled" : "default"}
      leftSection={<IconPlus size={18} aria-hidden />}
      onClick={() => setAdded(what)}
    >
      {text}
    </Button>
  );
  return (
    <SettingsPage
      title={t`Calendars`}
      lead={t`Recordings get their title, participants and scheduled time from the meeting in your calendar. Events that are private or confidential are never read beyond their times.`}
      action={canAdd ? addButton("own", t`Add calendar`) : undefined}
    >
      <Loaded query={calendars}>
        {(data) => (
          <>
            <List
              label={t`Your calendars`}
              calendars={data.calendars.filter((calendar) => !calendar.is_room)}
              canRemove={canAdd}
              none={t`No calendars yet. Add one to see your next meetings and to name recordings after them.`}
            />
            {isAdmin ? (
              <Section
                title={t`Room calendars`}
                lead={t`For recordings of all users: a meeting in a room's calendar names the recording of any of its participants.`}
                action={addButton("room", t`Add room calendar`)}
              >
                <List
                  label={t`Room calendars`}
                  calendars={data.calendars.filter((calendar) => calendar.is_room)}
                  canRemove
                  none={t`No room calendars yet.`}
                />
              </Section>
            ) : null}
          </>
        )}
      </Loaded>
      <CalendarDialog isOpen={added !== null} isRoom={added === "room"} onClose={() => setAdded(null)} />
    </SettingsPage>
  );
}

function List(props: { label: string; calendars: readonly Calendar[]; canRemove: boolean; none: string }) {
  if (props.calendars.length === 0) return <NoneYet>{props.none}</NoneYet>;
  return (
    <Rows label={props.label}>
      {props.calendars.map((calendar) => (
        <CalendarRow key={calendar.id} calendar={calendar} canRemove={props.canRemove} />
      ))}
    </Rows>
  );
}

const states = {
  ok: null,
  waiting: (
    <Tag tone="warn">
      <Trans>Waiting</Trans>
    </Tag>
  ),
  failing: (
    <Tag tone="bad">
      <Trans>Failing</Trans>
    </Tag>
  ),
} as const;

function CalendarRow({ calendar, canRemove }: { calendar: Calendar; canRemove: boolean }) {
  const { t } = useLingui();
  const {
    id,
    name,
    kind,
    host,
    username,
    state,
    problem,
    read_datetime: read,
    unread_events: unread,
    next_event: event,
  } = calendar;
  const [example] = calendar.unread_examples;
  const lastRead = read === null ? null : whenInLine(read);
  const next = whenInLine(calendar.next_read_datetime);
  return (
    <Row
      title={name}
      badges={
        <>
          <Tag>{kind === "ics" ? "ICS" : "CalDAV"}</Tag>
          {states[state]}
        </>
      }
      facts={[
        // A calendar without a name is called by its host.
        username === null ? name !== host && host : t`${username} at ${host}`,
        lastRead === null ? t`not read yet` : t`last read ${lastRead}`,
        plural(calendar.events, { one: "# event", other: "# events" }),
        event !== null && <NextEvent key="next" event={event} />,
        unread > 0 &&
          plural(unread, {
            one: "# entry could not be understood",
            other: "# entries could not be understood",
          }),
        example !== undefined && <Unread key="unread" example={example} />,
        problem !== null && <ServerText key="problem" text={problem} />,
        state === "ok" ? null : t`next attempt ${next}`,
      ]}
      actions={
        canRemove ? (
          <ConfirmButton
            text={t`Remove`}
            button={{ variant: "subtle", size: "compact-sm" }}
            title={t`Remove ${name}?`}
            label={t`Remove calendar`}
            run={() => removeCalendar(id)}
            done={t`Calendar removed.`}
            refresh={[calendarsQuery.queryKey, meetingsQuery.queryKey, sessionQuery.queryKey]}
          >
            <Trans>
              Its events, and notes for meetings that were not recorded, are deleted. What has become part of
              a recording stays.
            </Trans>
          </ConfirmButton>
        ) : undefined
      }
    />
  );
}

/** The event that takes place or comes next, by which users recognize their calendar. */
function NextEvent({ event }: { event: NonNullable<Calendar["next_event"]> }) {
  const title = titleOf(event);
  const when = event.is_all_day ? dayInLine(event.start_datetime) : whenInLine(event.start_datetime);
  return (
    <Trans>
      next: <bdi>{title}</bdi>, {when}
    </Trans>
  );
}

/** The first entry that could not be read. */
function Unread({ example }: { example: Calendar["unread_examples"][number] }) {
  const { t } = useLingui();
  return (
    <>
      <bdi>{example.title ?? t`without a title`}</bdi>: <ServerText text={example.reason} />
    </>
  );
}
