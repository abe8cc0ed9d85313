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
  const { text: title } = clip;
  const [start, end] = [clock(clip.startMs), clock(clip.endMs)];
  return (
    <Group className={classes.bar ?? ""} gap="xs" wrap="nowrap" role="status">
      <IconHighlight size={18} stroke={1.6} aria-hidden className={classes.sign ?? ""} />
      <Text size="sm" truncate flex={1} miw={0} title={title}>
        {hasEnded ? (
          <Trans>
            Clip ended: <b dir="auto">{title}</b>
          </Trans>
        ) : (
          <Trans>
            Playing clip: <b dir="auto">{title}</b>
          </Trans>
        )}{" "}
        <span className={classes.times}>
          <Trans>
            {start} to {end}
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
          <Trans>Replay</Trans>
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
