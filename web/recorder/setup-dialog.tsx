import { Trans, useLingui } from "@lingui/react/macro";
import {
  Alert,
  Button,
  Group,
  Modal,
  Pill,
  SegmentedControl,
  Select,
  Stack,
  Switch,
  TagsInput,
  Text,
  TextInput,
} from "@mantine/core";
import { IconInfoCircle, IconShieldCheck } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useEffect, useState } from "react";
import { type Meeting, meetingsQuery } from "../api/calendars.ts";
import { meetingTypesQuery } from "../api/directory.ts";
import { workspaceQuery } from "../api/settings/workspace.ts";
import { bytes } from "../common/format/bytes.ts";
import { dateTime } from "../common/format/time.ts";
import { peopleOf } from "../common/lists/meeting-list.tsx";
import { type Abilities, findAbilities } from "./capture/abilities.ts";
import type { Choice } from "./capture/sources.ts";
import { findCurrentMeeting, MeetingChoice } from "./meeting-choice.tsx";
import classes from "./record.module.css";
import type { Details } from "./recorder.ts";

/** Less free space than this holds under an hour without a connection. */
const lowStorageBytes = 1_000_000_000;

const maxPeople = 100;

interface SetupProps {
  readonly opened: boolean;
  /** The meeting that the fields are filled in from. */
  readonly meeting: Meeting | null;
  readonly onClose: () => void;
  /** Called in the click's handler, where browsers allow to share a screen. */
  readonly onStart: (choice: Choice, details: Details) => void;
  readonly isStarting: boolean;
  readonly error: string | null;
}

/** Chooses what to record, and what it is about. */
export function SetupDialog(props: SetupProps) {
  const { t } = useLingui();
  return (
    <Modal
      opened={props.opened}
      onClose={props.onClose}
      title={t`Record a meeting`}
      size="lg"
      radius="lg"
      classNames={{ content: classes.setup }}
    >
      <SetupForm key={props.meeting?.id ?? ""} {...props} abilities={findAbilities()} />
    </Modal>
  );
}

function SetupForm({
  meeting: given,
  onClose,
  onStart,
  isStarting,
  error,
  abilities,
}: SetupProps & { abilities: Abilities }) {
  const { t } = useLingui();
  const [choice, setChoice] = useState<Choice>({
    picture: abilities.screen ? "screen" : "none",
    sharedSound: abilities.sharedSound,
    microphone: true,
    microphoneId: "",
    cornerCamera: false,
  });
  const [meeting, setMeeting] = useState(given);
  const [title, setTitle] = useState(given?.title ?? "");
  const [participants, setParticipants] = useState(given === null ? [] : tagsOf(given));
  /** Those of the participants that are filled in from the meeting. */
  const [invited, setInvited] = useState(participants);
  const [isPreselected, setPreselected] = useState(given !== null);
  const [meetingTypeId, setMeetingType] = useState<string | null>(null);
  const types = useQuery(meetingTypesQuery);
  const workspace = useQuery(workspaceQuery);
  const { data: today, isFetching } = useQuery(meetingsQuery);
  const set = (change: Partial<Choice>) => setChoice((before) => ({ ...before, ...change }));
  const hasSound = choice.microphone || choice.sharedSound;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const now = dateTime(new Date());
    onStart(choice, {
      title: title.trim() || t`Recording of ${now}`,
      isTitleGenerated: title.trim() === "",
      participants: participants.map((text) => personOf(text, meeting, invited.includes(text))),
      calendarEvent: meeting === null ? null : eventOf(meeting),
      meetingTypeId,
    });
  };
  const choose = (next: Meeting | null): void => {
    setMeeting(next);
    setTitle(next?.title ?? "");
    const people = next === null ? [] : tagsOf(next);
    setParticipants(people);
    setInvited(people);
  };
  // Once, and not over what the user has entered meanwhile.
  if (!isPreselected && today !== undefined && !isFetching) {
    setPreselected(true);
    const current = findCurrentMeeting(today.meetings, Date.now());
    if (current !== null && title === "" && participants.length === 0) choose(current);
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        {abilities.limits.map((limit) => (
          <Alert key={limit} color="yellow" variant="light" icon={<IconInfoCircle size={20} aria-hidden />}>
            {limit}
          </Alert>
        ))}
        {abilities.sound ? (
          <>
            <Alert color="indigo" variant="light" icon={<IconShieldCheck size={20} aria-hidden />}>
              <Text size="sm" style={{ whiteSpace: "pre-line", overflowWrap: "anywhere" }}>
                {workspace.data?.recording_consent ??
                  t`Tell everyone that you are recording before you start, and ask for their consent. In many places the law requires it.`}
              </Text>
            </Alert>
            <SourceFields choice={choice} abilities={abilities} onChange={set} />
            <MeetingChoice
              today={today?.meetings ?? []}
              chosen={meeting}
              onChoose={choose}
              onLeave={onClose}
            />
            <TextInput
              label={t`Title`}
              placeholder={
                today?.has_calendars
                  ? t`If empty, the title of the meeting, else the date and time`
                  : t`If empty, the title is the date and time`
              }
              maxLength={500}
              value={title}
              onChange={(event) => setTitle(event.currentTarget.value)}
            />
            <TagsInput
              label={t`Participants`}
              description={t`Names or email addresses. People added by email get access to the recording; people invited to the meeting get it once you confirm that they attended.`}
              placeholder={participants.length === 0 ? t`Press Enter after each one` : ""}
              splitChars={[",", ";"]}
              acceptValueOnBlur
              maxTags={maxPeople}
              value={participants}
              renderPill={({ value, onRemove }) => (
                <PersonPill
                  text={String(value)}
                  name={nameIn(meeting, String(value))}
                  onRemove={() => onRemove?.()}
                />
              )}
              onChange={(next) => {
                setParticipants(next);
                // One who is removed and added again is added by the user.
                setInvited(invited.filter((text) => next.includes(text)));
              }}
            />
            <Select
              label={t`Meeting type`}
              placeholder={t`Automatic, based on participants`}
              clearable
              data={(types.data?.meeting_types ?? []).map(({ id, name }) => ({ value: id, label: name }))}
              value={meetingTypeId}
              onChange={setMeetingType}
            />
            <StorageWarning />
          </>
        ) : null}
        <div className={classes.setupFooter}>
          {error === null ? null : (
            <Alert color="red" variant="light" role="alert" mb="sm">
              {error}
            </Alert>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {abilities.sound ? t`Cancel` : t`Close`}
            </Button>
            {abilities.sound ? (
              <Button type="submit" loading={isStarting} disabled={!hasSound}>
                <Trans>Start recording</Trans>
              </Button>
            ) : null}
          </Group>
        </div>
      </Stack>
    </form>
  );
}

/** People as the field shows them: by email where it is known, since it gives access. */
function tagsOf(meeting: Meeting): string[] {
  return [...new Set(peopleOf(meeting).map(({ name, email }) => email ?? name ?? ""))].slice(0, maxPeople);
}

function personOf(
  text: string,
  meeting: Meeting | null,
  isInvited: boolean,
): Details["participants"][number] {
  const invitation = isInvited ? ({ is_invited: true } as const) : {};
  if (!text.includes("@")) return { name: text, ...invitation };
  const name = nameIn(meeting, text);
  return name === null ? { email: text, ...invitation } : { name, email: text, ...invitation };
}

/** The name that a meeting has for an email. */
function nameIn(meeting: Meeting | null, text: string): string | null {
  return meeting?.attendees.find(({ email }) => email === text)?.name ?? null;
}

/** A participant: the name, and the email where it is known. */
function PersonPill(props: { text: string; name: string | null; onRemove: () => void }) {
  const { text, name, onRemove } = props;
  return (
    <Pill withRemoveButton onRemove={onRemove} title={text}>
      <bdi>{name ?? text}</bdi>
      {name === null || name === text ? null : (
        <>
          {" "}
          <Text span size="xs" c="dimmed">
            {text}
          </Text>
        </>
      )}
    </Pill>
  );
}

/** A private event is known by its times alone, and a recording keeps nothing of it. */
function eventOf({ ical_uid, start_datetime, end_datetime }: Meeting): Details["calendarEvent"] {
  if (ical_uid === null) return null;
  return { ical_uid, scheduled_start_datetime: start_datetime, scheduled_end_datetime: end_datetime };
}

function SourceFields({
  choice,
  abilities,
  onChange,
}: {
  choice: Choice;
  abilities: Abilities;
  onChange: (change: Partial<Choice>) => void;
}) {
  const { t } = useLingui();
  const microphones = useMicrophones();
  const pictures = [
    ...(abilities.screen ? [{ value: "screen", label: t`Screen` }] : []),
    ...(abilities.camera ? [{ value: "camera", label: t`Camera` }] : []),
    { value: "none", label: t`Sound only` },
  ];
  const hasSharedSound = abilities.sharedSound && choice.picture !== "camera";
  return (
    <Stack gap="sm">
      {pictures.length === 1 ? null : (
        <SegmentedControl
          fullWidth
          aria-label={t`What to record`}
          data={pictures}
          value={choice.picture}
          onChange={(picture) =>
            onChange({
              picture: picture as Choice["picture"],
              sharedSound: abilities.sharedSound && picture === "screen",
              cornerCamera: false,
            })
          }
        />
      )}
      {hasSharedSound ? (
        <Switch
          label={t`Sound of the tab or screen`}
          description={t`Turn on “Also share sound” when the browser asks what to share. It is recorded separately from your microphone.`}
          checked={choice.sharedSound}
          onChange={(event) => onChange({ sharedSound: event.currentTarget.checked })}
        />
      ) : null}
      <Switch
        label={t`Microphone`}
        checked={choice.microphone}
        onChange={(event) => onChange({ microphone: event.currentTarget.checked })}
      />
      {choice.microphone && microphones.length > 1 ? (
        <Select
          aria-label={t`Microphone device`}
          data={microphones}
          allowDeselect={false}
          value={choice.microphoneId}
          onChange={(microphoneId) => onChange({ microphoneId: microphoneId ?? "" })}
        />
      ) : null}
      {choice.picture === "screen" && abilities.camera ? (
        <Switch
          label={t`Camera in the corner`}
          checked={choice.cornerCamera}
          onChange={(event) => onChange({ cornerCamera: event.currentTarget.checked })}
        />
      ) : null}
      {choice.microphone || choice.sharedSound ? null : (
        <Text size="sm" c="var(--mantine-color-error)">
          <Trans>Turn on the microphone or the sound of the screen.</Trans>
        </Text>
      )}
    </Stack>
  );
}

/** The microphones, once the user has allowed one in this browser; before that they have no names. */
function useMicrophones() {
  const { t } = useLingui();
  const [found, setFound] = useState<readonly MediaDeviceInfo[]>([]);
  useEffect(() => {
    navigator.mediaDevices?.enumerateDevices().then(setFound, () => undefined);
  }, []);
  const named = found.filter(
    ({ kind, label, deviceId }) => kind === "audioinput" && label !== "" && deviceId !== "default",
  );
  return [
    { value: "", label: t`Default microphone` },
    ...named.map(({ deviceId, label }) => ({ value: deviceId, label })),
  ];
}

/** What the server has not acknowledged is kept in the browser, which needs space for it. */
function StorageWarning() {
  const [freeBytes, setFree] = useState<number | null>(null);
  useEffect(() => {
    navigator.storage?.estimate?.().then(
      ({ quota = 0, usage = 0 }) => setFree(quota - usage),
      () => undefined,
    );
  }, []);
  if (freeBytes === null || freeBytes > lowStorageBytes) return null;
  const free = bytes(Math.max(0, freeBytes));
  return (
    <Alert color="yellow" variant="light" icon={<IconInfoCircle size={20} aria-hidden />}>
      <Trans>
        Only {free} are free for this site. If the connection is lost, a long recording may not fit; free some
        disk space first.
      </Trans>
    </Alert>
  );
}
