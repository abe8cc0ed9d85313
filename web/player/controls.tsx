import { ActionIcon, Group, Menu, Popover, Slider, Text, Tooltip } from "@mantine/core";
import {
  IconBadgeCc,
  IconBadgeCcFilled,
  IconCheck,
  IconMaximize,
  IconMinimize,
  IconPictureInPicture,
  IconPlayerPauseFilled,
  IconPlayerPlayFilled,
  IconRewindBackward10,
  IconRewindForward10,
  IconVolume,
  IconVolume2,
  IconVolumeOff,
} from "@tabler/icons-react";
import { type ReactNode, type RefObject, useState } from "react";
import { clock } from "../common/format/time.ts";
import { usePlaybackState, usePlayerContext } from "./context.ts";
import { toggleFullScreen, togglePictureInPicture, useIsFullScreen } from "./full-screen.ts";
import classes from "./player.module.css";
import { rates } from "./preferences.ts";

const skipMs = 10_000;

/** The row of buttons below the video. */
export function Controls(props: {
  frame: RefObject<HTMLElement | null>;
  isVideo: boolean;
  tools?: ReactNode;
}) {
  const { frame, isVideo, tools } = props;
  const { hasTranscript, playback } = usePlayerContext();
  const isPlaying = usePlaybackState((state) => state.isPlaying);
  const hasCaptions = usePlaybackState((state) => state.hasCaptions);
  const isFullScreen = useIsFullScreen();
  return (
    <div className={classes.controls}>
      <Group gap={4} wrap="nowrap">
        <Tool label={isPlaying ? "Pause" : "Play"} keys="space" onClick={playback.toggle} isMain>
          {isPlaying ? <IconPlayerPauseFilled size={20} /> : <IconPlayerPlayFilled size={20} />}
        </Tool>
        <Tool label="Back 10 seconds" keys="J" onClick={() => playback.skip(-skipMs)}>
          <IconRewindBackward10 size={20} stroke={1.6} />
        </Tool>
        <Tool label="Forward 10 seconds" keys="L" onClick={() => playback.skip(skipMs)}>
          <IconRewindForward10 size={20} stroke={1.6} />
        </Tool>
        <Time />
      </Group>
      <Group gap={4} wrap="nowrap">
        <span className={classes.volume}>
          <Volume />
        </span>
        <Speed />
        {hasTranscript ? (
          <Tool
            label={hasCaptions ? "Hide captions" : "Show captions"}
            keys="C"
            onClick={playback.toggleCaptions}
          >
            {hasCaptions ? <IconBadgeCcFilled size={20} /> : <IconBadgeCc size={20} stroke={1.6} />}
          </Tool>
        ) : null}
        {tools}
        {isVideo && document.pictureInPictureEnabled ? (
          <span className={classes.roomy}>
            <Tool label="Picture in picture" onClick={() => togglePictureInPicture(frame.current)}>
              <IconPictureInPicture size={20} stroke={1.6} />
            </Tool>
          </span>
        ) : null}
        {isVideo ? (
          <Tool
            label={isFullScreen ? "Exit full screen" : "Full screen"}
            keys="F"
            onClick={() => toggleFullScreen(frame.current)}
          >
            {isFullScreen ? <IconMinimize size={20} stroke={1.6} /> : <IconMaximize size={20} stroke={1.6} />}
          </Tool>
        ) : null}
      </Group>
    </div>
  );
}

/** A button with a tooltip that names its keyboard shortcut. */
function Tool(props: {
  label: string;
  keys?: string;
  isMain?: boolean;
  onClick: () => void;
  children: ReactNode;
}) {
  const { label, keys, isMain = false, onClick, children } = props;
  return (
    <Tooltip withinPortal={false} label={keys === undefined ? label : `${label} (${keys})`} openDelay={400}>
      <ActionIcon
        variant={isMain ? "filled" : "subtle"}
        {...(isMain ? {} : { color: "gray" })}
        radius={isMain ? "xl" : "md"}
        size={isMain ? 40 : 36}
        aria-label={label}
        onClick={onClick}
      >
        {children}
      </ActionIcon>
    </Tooltip>
  );
}

function Time() {
  const player = usePlayerContext();
  const seconds = usePlaybackState((state) => Math.floor(state.timeMs / 1000));
  const durationMs = usePlaybackState((state) => state.durationMs) || player.durationMs;
  return (
    <Text span size="sm" className={classes.time ?? ""}>
      {clock(seconds * 1000)} <span className={classes.total}>/ {clock(durationMs)}</span>
    </Text>
  );
}

function Volume() {
  const { playback } = usePlayerContext();
  const [isOpen, setOpen] = useState(false);
  const volume = usePlaybackState((state) => state.volume);
  const isMuted = usePlaybackState((state) => state.isMuted);
  const Icon = isMuted ? IconVolumeOff : volume < 0.5 ? IconVolume2 : IconVolume;
  return (
    <Popover opened={isOpen} onChange={setOpen} position="top" trapFocus returnFocus withinPortal={false}>
      <Popover.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size={36}
          aria-label={isMuted ? "Volume, muted" : "Volume"}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon size={20} stroke={1.6} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown>
        <Group gap="xs" wrap="nowrap" w={190}>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={isMuted ? "Unmute" : "Mute"}
            onClick={playback.toggleMute}
          >
            <Icon size={20} stroke={1.6} />
          </ActionIcon>
          <Slider
            flex={1}
            min={0}
            max={100}
            step={5}
            label={null}
            value={isMuted ? 0 : Math.round(volume * 100)}
            onChange={(value) => playback.setVolume(value / 100)}
            thumbLabel="Volume"
            thumbValueText={(value) => `${value} %`}
            data-autofocus
          />
        </Group>
      </Popover.Dropdown>
    </Popover>
  );
}

function Speed() {
  const { playback, hasTranscript } = usePlayerContext();
  const skipsSilence = usePlaybackState((state) => state.skipsSilence);
  const rate = usePlaybackState((state) => state.rate);
  return (
    <Menu position="top-end" width={160} withinPortal={false}>
      <Menu.Target>
        <Tooltip withinPortal={false} label="Speed (< and >)" openDelay={400}>
          <ActionIcon variant="subtle" color="gray" h={36} w={52} aria-label={`${rate}× speed`}>
            <Text span size="sm" fw={600}>
              {rate}×
            </Text>
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
      <Menu.Dropdown>
        {rates.map((choice) => (
          <Menu.Item
            key={choice}
            aria-current={choice === rate ? "true" : undefined}
            rightSection={choice === rate ? <IconCheck size={16} aria-hidden /> : null}
            onClick={() => playback.setRate(choice)}
          >
            {choice}×
          </Menu.Item>
        ))}
        {hasTranscript ? (
          <>
            <Menu.Divider />
            <Menu.CheckboxItem checked={skipsSilence} onChange={playback.toggleSilence}>
              Skip silence
            </Menu.CheckboxItem>
          </>
        ) : null}
      </Menu.Dropdown>
    </Menu>
  );
}
