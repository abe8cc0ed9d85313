import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Menu, Text } from "@mantine/core";
import {
  IconBadgeCc,
  IconBadgeCcFilled,
  IconMaximize,
  IconMinimize,
  IconPictureInPicture,
  IconPlayerPauseFilled,
  IconPlayerPlayFilled,
  IconRewindBackward10,
  IconRewindForward10,
} from "@tabler/icons-react";
import type { ReactNode, RefObject } from "react";
import { clock } from "../common/format/time.ts";
import { usePlaybackState, usePlayerContext } from "./context.ts";
import { toggleFullScreen, togglePictureInPicture, useIsFullScreen } from "./full-screen.ts";
import classes from "./player.module.css";
import { SpeedMenu, Tool, VolumeControl } from "./tools.tsx";

const skipMs = 10_000;

/** The row of buttons below the video. */
export function Controls(props: {
  frame: RefObject<HTMLElement | null>;
  isVideo: boolean;
  tools?: ReactNode;
}) {
  const { t } = useLingui();
  const { frame, isVideo, tools } = props;
  const { hasTranscript, playback } = usePlayerContext();
  const isPlaying = usePlaybackState((state) => state.isPlaying);
  const hasCaptions = usePlaybackState((state) => state.hasCaptions);
  const isFullScreen = useIsFullScreen();
  return (
    <div className={classes.controls}>
      <Group gap={4} wrap="nowrap">
        <Tool label={isPlaying ? t`Pause` : t`Play`} keys="space" onClick={playback.toggle} isMain>
          {isPlaying ? <IconPlayerPauseFilled size={20} /> : <IconPlayerPlayFilled size={20} />}
        </Tool>
        <Tool label={t`Back 10 seconds`} keys="J" onClick={() => playback.skip(-skipMs)}>
          <IconRewindBackward10 size={20} stroke={1.6} />
        </Tool>
        <Tool label={t`Forward 10 seconds`} keys="L" onClick={() => playback.skip(skipMs)}>
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
            label={hasCaptions ? t`Hide captions` : t`Show captions`}
            keys="C"
            onClick={playback.toggleCaptions}
          >
            {hasCaptions ? <IconBadgeCcFilled size={20} /> : <IconBadgeCc size={20} stroke={1.6} />}
          </Tool>
        ) : null}
        {tools}
        {isVideo && document.pictureInPictureEnabled ? (
          <span className={classes.roomy}>
            <Tool label={t`Picture in picture`} onClick={() => togglePictureInPicture(frame.current)}>
              <IconPictureInPicture size={20} stroke={1.6} />
            </Tool>
          </span>
        ) : null}
        {isVideo ? (
          <Tool
            label={isFullScreen ? t`Exit full screen` : t`Full screen`}
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

function Time() {
  const player = usePlayerContext();
  const seconds = usePlaybackState((state) => Math.floor(state.timeMs / 1000));
  const durationMs = usePlaybackState((state) => state.durationMs) || player.durationMs;
  return (
    <Text span size="sm" className={classes.time ?? ""}>
      <span>{clock(seconds * 1000)} </span>
      <span className={classes.total}>/ {clock(durationMs)}</span>
    </Text>
  );
}

function Volume() {
  const { playback } = usePlayerContext();
  const volume = usePlaybackState((state) => state.volume);
  const isMuted = usePlaybackState((state) => state.isMuted);
  return (
    <VolumeControl
      volume={volume}
      isMuted={isMuted}
      onVolume={playback.setVolume}
      onToggleMute={playback.toggleMute}
    />
  );
}

function Speed() {
  const { playback, hasTranscript } = usePlayerContext();
  const skipsSilence = usePlaybackState((state) => state.skipsSilence);
  const rate = usePlaybackState((state) => state.rate);
  return (
    <SpeedMenu rate={rate} keys="<, >" onRate={playback.setRate}>
      {hasTranscript ? (
        <>
          <Menu.Divider />
          <Menu.CheckboxItem checked={skipsSilence} onChange={playback.toggleSilence}>
            <Trans>Skip silence</Trans>
          </Menu.CheckboxItem>
        </>
      ) : null}
    </SpeedMenu>
  );
}
