import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Button, Group, Paper, Stack, Text, Tooltip, VisuallyHidden } from "@mantine/core";
import {
  IconHighlight,
  IconMicrophone,
  IconMicrophoneOff,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlayerStop,
} from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { clock } from "../common/format/time.ts";
import { ConfirmButton } from "../common/forms/confirm.tsx";
import { readPreferences } from "../player/preferences.ts";
import type { Meter } from "./capture/sound.ts";
import type { TransferState } from "./outbox/transfers.ts";
import classes from "./record.module.css";
import { minRecordingMs, type Recorder } from "./recorder.ts";

interface PanelProps {
  readonly recorder: Recorder;
  readonly elapsedMs: number;
  readonly transfer: TransferState | undefined;
  readonly warning: string | null;
  readonly isStopping: boolean;
  readonly onStop: () => void;
  readonly onDiscard: () => void;
}

/** Controls of the recording in progress, above every page. */
export function RecorderPanel(props: PanelProps) {
  const { t } = useLingui();
  const { recorder, elapsedMs, warning, isStopping } = props;
  const [isPaused, setPaused] = useState(false);
  const [isMuted, setMuted] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const { microphone, sharedSound } = recorder.sound;
  const togglePause = (): void => {
    if (isPaused) recorder.resume();
    else recorder.pause();
    setPaused(!isPaused);
  };
  const toggleMute = (): void => {
    recorder.setMuted(!isMuted);
    setMuted(!isMuted);
  };
  return (
    <Paper
      component="section"
      aria-label={t({ context: "noun", message: "Recording" })}
      className={classes.panel ?? ""}
      withBorder
      shadow="lg"
      radius="lg"
      p="sm"
    >
      <Stack gap="xs">
        <Group justify="space-between" wrap="nowrap" gap="xs">
          <Group gap={8} wrap="nowrap" miw={0}>
            <span className={classes.dot} data-paused={isPaused || undefined} aria-hidden />
            <Text fw={700} ff="monospace" role="timer" aria-label={t`Recorded time`}>
              {clock(elapsedMs)}
            </Text>
            <Text size="sm" c="dimmed" truncate>
              {isStopping ? t`Saving…` : isPaused ? t`Paused` : recorder.title}
            </Text>
          </Group>
          <Group gap={4} wrap="nowrap">
            {microphone === null ? null : (
              <PanelButton
                label={isMuted ? t`Unmute microphone` : t`Mute microphone`}
                onClick={toggleMute}
                icon={isMuted ? <IconMicrophoneOff size={20} /> : <IconMicrophone size={20} />}
              />
            )}
            <PanelButton
              label={isPaused ? t`Resume recording` : t`Pause recording`}
              onClick={togglePause}
              icon={isPaused ? <IconPlayerPlay size={20} /> : <IconPlayerPause size={20} />}
            />
          </Group>
        </Group>
        {microphone === null ? null : (
          <LevelMeter
            label={t`Microphone`}
            name={t`Level of microphone`}
            meter={microphone}
            isOff={isMuted || isPaused}
          />
        )}
        {sharedSound === null ? null : (
          <LevelMeter
            label={t`Shared sound`}
            name={t`Level of shared sound`}
            meter={sharedSound}
            isOff={isPaused}
          />
        )}
        {warning === null ? null : (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {warning}
          </Text>
        )}
        <SavedText transfer={props.transfer} />
        {isAsking ? (
          <TooShort
            isLongEnough={elapsedMs >= minRecordingMs}
            onContinue={() => setAsking(false)}
            onDiscard={props.onDiscard}
          />
        ) : (
          <Group gap="xs" grow preventGrowOverflow={false}>
            <HighlightButton recorder={recorder} />
            <Button
              color="red.9"
              leftSection={<IconPlayerStop size={18} />}
              loading={isStopping}
              onClick={() => (elapsedMs < minRecordingMs ? setAsking(true) : props.onStop())}
            >
              <Trans>Stop</Trans>
            </Button>
          </Group>
        )}
      </Stack>
    </Paper>
  );
}

function PanelButton({
  label,
  icon,
  onClick,
}: {
  label: string;
  icon: React.ReactNode;
  onClick: () => void;
}) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" size="lg" aria-label={label} onClick={onClick}>
        {icon}
      </ActionIcon>
    </Tooltip>
  );
}

/** @param props.isLongEnough by now, so that discarding it is confirmed first. */
function TooShort(props: { isLongEnough: boolean; onContinue: () => void; onDiscard: () => void }) {
  const { t } = useLingui();
  return (
    <Stack gap="xs" role="alertdialog" aria-label={t`Recording too short`}>
      <Text size="sm">
        <Trans>A recording needs at least 10 seconds.</Trans>
      </Text>
      <Group gap="xs" grow preventGrowOverflow={false}>
        {props.isLongEnough ? (
          <ConfirmButton
            text={t`Discard`}
            button={{ size: "sm", variant: "default" }}
            title={t`Discard recording?`}
            label={t`Discard recording`}
            run={async () => props.onDiscard()}
            done={t`Recording discarded.`}
          >
            <Trans>It is long enough to be saved now.</Trans>
          </ConfirmButton>
        ) : (
          <Button variant="default" color="red" onClick={props.onDiscard}>
            <Trans>Discard</Trans>
          </Button>
        )}
        <Button onClick={props.onContinue} autoFocus>
          <Trans>Keep recording</Trans>
        </Button>
      </Group>
    </Stack>
  );
}

/** Highlights the current moment, also with the key H outside of fields, dialogs and menus, unless shortcuts are off. */
function HighlightButton({ recorder }: { recorder: Recorder }) {
  const { t } = useLingui();
  const [count, setCount] = useState(0);
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== "h" || event.ctrlKey || event.metaKey || event.altKey || event.repeat)
        return;
      if (!readPreferences().hasShortcuts) return;
      if (
        event.target instanceof Element &&
        event.target.closest('input, textarea, select, [contenteditable], [role="dialog"], [role="menu"]')
      )
        return;
      setCount(recorder.mark());
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, [recorder]);
  return (
    <>
      <Button
        variant="light"
        leftSection={<IconHighlight size={18} />}
        title={t`Key: H`}
        onClick={() => setCount(recorder.mark())}
      >
        {count === 0 ? t`Highlight this moment` : t`Highlight this moment (${count})`}
      </Button>
      <VisuallyHidden role="status">{count === 0 ? "" : t`Moment ${count} highlighted`}</VisuallyHidden>
    </>
  );
}

function SavedText({ transfer }: { transfer: TransferState | undefined }) {
  const { t } = useLingui();
  if (transfer === undefined) return null;
  const { reason } = transfer;
  const text =
    transfer.status === "failed"
      ? t`The upload failed: ${reason} The recording is kept in this browser.`
      : transfer.isOffline
        ? t`No connection. The recording is kept in this browser and uploaded later.`
        : t`Uploading while you record.`;
  return (
    <Text size="xs" c="dimmed" role="status">
      {text}
    </Text>
  );
}

/** The level of a source, updated ten times a second without rendering. */
function LevelMeter(props: { label: string; name: string; meter: Meter; isOff: boolean }) {
  const { label, name, meter, isOff } = props;
  const bar = useRef<HTMLMeterElement>(null);
  useEffect(() => {
    const timer = setInterval(() => {
      if (bar.current !== null) bar.current.value = isOff ? 0 : meter.level();
    }, 100);
    return () => clearInterval(timer);
  }, [meter, isOff]);
  return (
    <div className={classes.level}>
      <Text size="xs" c="dimmed" span>
        {label}
      </Text>
      <meter ref={bar} min={0} max={1} value={0} aria-label={name} />
    </div>
  );
}
