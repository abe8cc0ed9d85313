import type { Transcript } from "../api/recording/recording.ts";
import { segmentAt } from "../common/segments.ts";
import { usePlaybackState } from "./context.ts";
import classes from "./player.module.css";

/** The current transcript line, as captions for audio recordings. */
export function CurrentLine({ transcript }: { transcript: Transcript | undefined }) {
  const segments = transcript?.segments ?? [];
  const index = usePlaybackState(({ timeMs }) => segmentAt(segments, timeMs));
  const segment = segments[index];
  return (
    <p className={classes.spoken} dir="auto">
      {segment === undefined ? " " : segment.text}
    </p>
  );
}
