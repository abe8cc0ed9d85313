import { msg } from "@lingui/core/macro";
import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Button, CopyButton, Group, Text, Tooltip, UnstyledButton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPencil } from "@tabler/icons-react";
import { Fragment, type ReactNode } from "react";
import type { View } from "../../api/recording/recording.ts";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { languageName, namesInLine } from "../../common/format/names.ts";
import { number } from "../../common/format/numbers.ts";
import { clock, fullTime, lengthInWords } from "../../common/format/time.ts";
import { timeZoneAt } from "../../common/format/time-zone.ts";
import { lazyPart } from "../../common/load-part.tsx";
import { useRecording } from "../context.ts";
import { MomentButton } from "./moment-button.tsx";
import classes from "./panels.module.css";
import { sourceName } from "./sources.ts";

const MeetingOfRecording = lazyPart(
  async () => (await import("../meeting/meeting-of-recording.tsx")).MeetingOfRecording,
  null,
);

const DetailsForm = lazyPart(async () => (await import("./details-form.tsx")).default);

const kinds = { video: msg`Video`, audio: msg`Audio`, transcript: msg`Transcript only` } as const;

/** All facts about a recording, with ids for developers last. */
export function DetailsPanel() {
  const { t } = useLingui();
  const { view } = useRecording();
  const { recording } = view;
  const { calendar_event: event, crm, screenshares: screens = [] } = recording;
  const facts: readonly (readonly [name: string, value: ReactNode])[] = [
    [t`Started`, fullTime(recording.start_datetime)],
    [t`Time zone`, timeZoneAt(new Date(recording.start_datetime))],
    [t`Ended`, fullTime(recording.end_datetime)],
    [t`Length`, lengthInWords(recording.duration_ms)],
    [t`Type`, t(kinds[recording.media_type])],
    [t`Source`, sourceName(recording.source)],
    [
      t`Meeting type`,
      recording.meeting_type === null
        ? null
        : view.meeting_type_is_automatic
          ? t`${{ name: recording.meeting_type.name }} (automatic, based on participants)`
          : recording.meeting_type.name,
    ],
    [t`Teams`, allInLine(recording.teams.map(({ name }) => name))],
    [t`Owners`, allInLine(recording.recorders.map(({ name }) => name))],
    ...(view.uploaded_by === null || recording.recorders.some(({ id }) => id === view.uploaded_by?.id)
      ? []
      : [[t`Uploaded by`, view.uploaded_by.name] as const]),
    [t`Tags`, allInLine(recording.tags)],
    [
      t`Scheduled`,
      event?.scheduled_start_datetime
        ? event.scheduled_end_datetime
          ? t`${{ start: fullTime(event.scheduled_start_datetime) }} to ${{ end: fullTime(event.scheduled_end_datetime) }}`
          : fullTime(event.scheduled_start_datetime)
        : null,
    ],
    [t`Screen shares`, screens.length === 0 ? null : <Screens key="screens" shown={screens} />],
    [t`Language`, view.transcript.language === null ? null : languageName(view.transcript.language)],
    [t`Transcript lines`, number(view.transcript.segments)],
    [t`Added`, fullTime(view.created_datetime)],
    [t`Last changed`, fullTime(view.updated_datetime)],
    [t`Recording ID`, <Id key="id" value={recording.id} />],
    [t`Upload ID`, view.upload_id === null ? null : <Id key="id" value={view.upload_id} />],
    [t`External ID`, view.external_id === null ? null : <Id key="id" value={view.external_id} />],
    [t`Calendar UID`, event?.ical_uid ? <Id key="id" value={event.ical_uid} /> : null],
    [t`CRM companies`, crm?.crm_company_ids.join(", ")],
    [t`CRM deals`, crm?.crm_deal_ids.join(", ")],
  ];
  return (
    <>
      {view.can.change ? <EditDetails /> : null}
      {view.can.change ? <MeetingOfRecording /> : null}
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
  const { t } = useLingui();
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <Group justify="flex-end" mb="xs">
      <Button size="xs" variant="light" leftSection={<IconPencil size={16} aria-hidden />} onClick={open}>
        <Trans>Edit details</Trans>
      </Button>
      <FormDialog opened={isOpen} onClose={close} title={t`Details`}>
        <DetailsForm onClose={close} />
      </FormDialog>
    </Group>
  );
}

type Screenshare = NonNullable<View["recording"]["screenshares"]>[number];

/** Imports can have hundreds; the first are enough. */
const maxScreens = 12;

/** Who shared their screen and when, each with a link to its start. */
function Screens({ shown }: { shown: readonly Screenshare[] }) {
  const { t } = useLingui();
  const { view } = useRecording();
  const more = shown.length - maxScreens;
  const names = new Map(view.participants.map(({ id, name }) => [id, name] as const));
  return (
    <ul className={classes.screens}>
      {shown.slice(0, maxScreens).map(({ participant_id: id, start, end: endMs }) => {
        const end = clock(endMs);
        const name = names.get(id) ?? t`someone`;
        return (
          <li key={`${id} ${start}`}>
            <Trans>
              <Moment ms={start} /> to {end}, {name}
            </Trans>
          </li>
        );
      })}
      {more > 0 ? (
        <li>
          <Plural value={more} one="and # more" other="and # more" />
        </li>
      ) : null}
    </ul>
  );
}

function Moment({ ms }: { ms: number }) {
  const { hasMedia } = useRecording();
  return hasMedia ? <MomentButton ms={ms} /> : clock(ms);
}

function Id({ value }: { value: string }) {
  const { t } = useLingui();
  return (
    <CopyButton value={value}>
      {({ copied, copy }) => (
        <Group gap={6}>
          <Tooltip label={copied ? t`Copied` : t`Copy`}>
            <UnstyledButton onClick={copy} aria-label={t`${value}, copy`}>
              <code className={classes.id}>{value}</code>
            </UnstyledButton>
          </Tooltip>
          {copied ? (
            <Text span size="xs" c="dimmed" role="status">
              <Trans>Copied</Trans>
            </Text>
          ) : null}
        </Group>
      )}
    </CopyButton>
  );
}

function allInLine(names: readonly string[]): string {
  return namesInLine(names, names.length);
}
