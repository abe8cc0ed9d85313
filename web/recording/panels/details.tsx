import { Button, CopyButton, Group, Loader, Modal, Text, Tooltip, UnstyledButton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPencil } from "@tabler/icons-react";
import { Fragment, lazy, type ReactNode, Suspense } from "react";
import type { View } from "../../api/recording.ts";
import { clock, fullTime, lengthInWords } from "../../common/time.ts";
import { timeZoneAt } from "../../common/time-zone.ts";
import { useRecording } from "../context.ts";
import { sources } from "./facts.ts";
import { MomentButton } from "./moment-button.tsx";
import classes from "./panels.module.css";

const DetailsForm = lazy(() => import("./details-form.tsx"));

const kinds = { video: "Video", audio: "Audio", transcript: "Transcript without a recording" } as const;

/** All that is known about a recording, ids for developers last. */
export function DetailsPanel() {
  const { view } = useRecording();
  const { recording } = view;
  const { calendar_event: event, crm, screenshares: screens = [] } = recording;
  const facts: readonly (readonly [name: string, value: ReactNode])[] = [
    ["Began", fullTime(recording.start_datetime)],
    ["Time zone", timeZoneAt(new Date(recording.start_datetime))],
    ["Ended", fullTime(recording.end_datetime)],
    ["Length", lengthInWords(recording.duration_ms)],
    ["Kind", kinds[recording.media_type]],
    ["Source", sources[recording.source]],
    [
      "Meeting type",
      recording.meeting_type === null
        ? null
        : `${recording.meeting_type.name}${view.meeting_type_is_automatic ? " (automatic, by who took part)" : ""}`,
    ],
    ["Teams", recording.teams.map(({ name }) => name).join(", ")],
    ["Recorded by", recording.recorders.map(({ name }) => name).join(", ")],
    ["Tags", recording.tags.join(", ")],
    [
      "In the calendar",
      event?.scheduled_start_datetime
        ? `${fullTime(event.scheduled_start_datetime)}${event.scheduled_end_datetime ? ` to ${fullTime(event.scheduled_end_datetime)}` : ""}`
        : null,
    ],
    ["Screens shown", screens.length === 0 ? null : <Screens key="screens" shown={screens} />],
    ["Language", languageName(view.transcript.language)],
    ["Lines of transcript", String(view.transcript.segments)],
    ["Added", fullTime(view.created_datetime)],
    ["Last changed", fullTime(view.updated_datetime)],
    ["Recording id", <Id key="id" value={recording.id} />],
    ["Upload id", view.upload_id === null ? null : <Id key="id" value={view.upload_id} />],
    ["External id", view.external_id === null ? null : <Id key="id" value={view.external_id} />],
    ["Calendar uid", event?.ical_uid ? <Id key="id" value={event.ical_uid} /> : null],
    ["CRM companies", crm?.crm_company_ids.join(", ")],
    ["CRM deals", crm?.crm_deal_ids.join(", ")],
  ];
  return (
    <>
      {view.can.change ? <EditDetails /> : null}
      <dl className={classes.facts}>
        {facts.map(([name, value]) =>
          value === null || value === undefined || value === "" ? null : (
            <Fragment key={name}>
              <dt>{name}</dt>
              <dd dir="auto">{value}</dd>
            </Fragment>
          ),
        )}
      </dl>
    </>
  );
}

function EditDetails() {
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <Group justify="flex-end" mb="xs">
      <Button size="xs" variant="light" leftSection={<IconPencil size={16} aria-hidden />} onClick={open}>
        Edit details
      </Button>
      <Modal opened={isOpen} onClose={close} title="Details">
        <Suspense fallback={<Loader size="sm" role="img" aria-label="Loading" />}>
          <DetailsForm onClose={close} />
        </Suspense>
      </Modal>
    </Group>
  );
}

type Screenshare = NonNullable<View["recording"]["screenshares"]>[number];

/** A meeting has few; of an import that has hundreds, the first will do. */
const fewScreens = 12;

/** Who showed their screen, and when; each leads to its beginning. */
function Screens({ shown }: { shown: readonly Screenshare[] }) {
  const { view, hasMedia } = useRecording();
  const names = new Map(view.participants.map(({ id, name }) => [id, name] as const));
  return (
    <ul className={classes.screens}>
      {shown.slice(0, fewScreens).map(({ participant_id: id, start, end }) => (
        <li key={`${id} ${start}`}>
          {hasMedia ? <MomentButton ms={start} /> : clock(start)} to {clock(end)},{" "}
          {names.get(id) ?? "somebody"}
        </li>
      ))}
      {shown.length > fewScreens ? <li>and {shown.length - fewScreens} more</li> : null}
    </ul>
  );
}

function Id({ value }: { value: string }) {
  return (
    <CopyButton value={value}>
      {({ copied, copy }) => (
        <Group gap={6}>
          <Tooltip label={copied ? "Copied" : "Copy"}>
            <UnstyledButton onClick={copy} aria-label={`${value}, copy`}>
              <code className={classes.id}>{value}</code>
            </UnstyledButton>
          </Tooltip>
          {copied ? (
            <Text span size="xs" c="dimmed" role="status">
              Copied
            </Text>
          ) : null}
        </Group>
      )}
    </CopyButton>
  );
}

function languageName(code: string | null): string | null {
  if (code === null) return null;
  try {
    return new Intl.DisplayNames(undefined, { type: "language" }).of(code) ?? code;
  } catch {
    // Not a code that the browser knows how to read.
    return code;
  }
}
