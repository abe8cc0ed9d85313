import { Button, CloseButton, Group, Text } from "@mantine/core";
import { IconHighlight, IconPlayerPlay, IconRepeat } from "@tabler/icons-react";
import { clock } from "../../common/time.ts";
import { usePlaybackState, useWatching } from "../watching.ts";
import classes from "./clip-bar.module.css";

/** Says that only a part is being played, and leads out of it. */
export function ClipBar() {
  const { playback } = useWatching();
  const clip = usePlaybackState((state) => state.clip);
  const isOver = usePlaybackState((state) => state.clip !== null && state.timeMs >= state.clip.endMs);
  if (clip === null) return null;
  return (
    <Group className={classes.bar ?? ""} gap="xs" wrap="nowrap" role="status">
      <IconHighlight size={18} stroke={1.6} aria-hidden className={classes.sign ?? ""} />
      <Text size="sm" truncate flex={1} miw={0} title={clip.text}>
        <span>{isOver ? "Clip played: " : "Plays a clip: "}</span>
        <b dir="auto">{clip.text}</b>{" "}
        <span className={classes.times}>
          {clock(clip.startMs)} to {clock(clip.endMs)}
        </span>
      </Text>
      {isOver ? (
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconRepeat size={16} aria-hidden />}
          onClick={() => playback.playClip(clip)}
        >
          Again
        </Button>
      ) : null}
      <Button
        size="compact-sm"
        variant={isOver ? "filled" : "default"}
        leftSection={<IconPlayerPlay size={16} aria-hidden />}
        onClick={playback.playOn}
        flex="none"
      >
        Play on
      </Button>
      <CloseButton size="sm" aria-label="Leave the clip" onClick={playback.leaveClip} />
    </Group>
  );
}
