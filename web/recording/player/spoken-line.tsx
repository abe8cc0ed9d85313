import type { Transcript } from "../../api/recording.ts";
import { segmentAt } from "../transcript/find.ts";
import { usePlaybackState } from "../watching.ts";
import classes from "./player.module.css";

/** What is being said, for recordings without a picture to write it on. */
export function SpokenLine({ transcript }: { transcript: Transcript | undefined }) {
  const segments = transcript?.segments ?? [];
  const index = usePlaybackState(({ timeMs }) => segmentAt(segments, timeMs));
  const segment = segments[index];
  return (
    <p className={classes.spoken} dir="auto">
      {segment === undefined ? " " : segment.text}
    </p>
  );
}
