import { Trans, useLingui } from "@lingui/react/macro";
import { Button, CloseButton, Group, Text } from "@mantine/core";
import { IconHighlight, IconPlayerPlay, IconRepeat } from "@tabler/icons-react";
import { clock } from "../common/format/time.ts";
import classes from "./clip-bar.module.css";
import { usePlaybackState, usePlayerContext } from "./context.ts";

/** Shows that only a clip is playing, with buttons to leave it. */
export function ClipBar() {
  const { t } = useLingui();
  const { playback } = usePlayerContext();
  const clip = usePlaybackState((state) => state.clip);
  const hasEnded = usePlaybackState((state) => state.clip !== null && state.timeMs >= state.clip.endMs);
  if (clip === null) return null;
  return (
    <Group className={classes.bar ?? ""} gap="xs" wrap="nowrap" role="status">
      <IconHighlight size={18} stroke={1.6} aria-hidden className={classes.sign ?? ""} />
      <Text size="sm" truncate flex={1} miw={0} title={clip.text}>
        <span>{hasEnded ? t`Clip ended: ` : t`Playing clip: `}</span>
        <b dir="auto">{clip.text}</b>{" "}
        <span className={classes.times}>
          <Trans>
            {clock(clip.startMs)} to {clock(clip.endMs)}
          </Trans>
        </span>
      </Text>
      {hasEnded ? (
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconRepeat size={16} aria-hidden />}
          onClick={() => playback.playClip(clip)}
        >
          {" "}
          <Trans>Replay</Trans>{" "}
        </Button>
      ) : null}
      <Button
        size="compact-sm"
        variant={hasEnded ? "filled" : "default"}
        leftSection={<IconPlayerPlay size={16} aria-hidden />}
        onClick={playback.keepPlaying}
        flex="none"
      >
        <Trans>Keep playing</Trans>
      </Button>
      <CloseButton size="sm" aria-label={t`Exit clip`} onClick={playback.leaveClip} />
    </Group>
  );
}
