import { useMemo } from "react";
import type { Waveform } from "../../api/recording.ts";
import classes from "./player.module.css";

const bars = 240;
/** Quiet recordings are drawn larger, but silence is not made a storm. */
const leastFull = 40;

/** Loudness over the length; what was played in the accent colour. */
export function WaveformPicture(props: { waveform: Waveform | undefined; playedShare: number }) {
  const { waveform, playedShare } = props;
  const path = useMemo(() => (waveform === undefined ? "" : barsOf(waveform)), [waveform]);
  const right = `${((1 - playedShare) * 100).toFixed(3)}%`;
  return (
    <div className={classes.waveform} aria-hidden>
      <svg viewBox={`0 0 ${bars} 2`} preserveAspectRatio="none" role="presentation">
        <path d={path} />
      </svg>
      <svg
        viewBox={`0 0 ${bars} 2`}
        preserveAspectRatio="none"
        role="presentation"
        className={classes.played}
        style={{ clipPath: `inset(0 ${right} 0 0)` }}
      >
        <path d={path} />
      </svg>
    </div>
  );
}

/** The loudest of each stretch as a bar, mirrored about the middle. */
function barsOf({ peaks }: Waveform): string {
  const full = peaks.reduce((most, peak) => Math.max(most, peak), leastFull);
  let path = "";
  for (let i = 0; i < bars; i++) {
    const from = Math.floor((i * peaks.length) / bars);
    const to = Math.max(from + 1, Math.floor(((i + 1) * peaks.length) / bars));
    let loudest = 0;
    for (let k = from; k < to; k++) loudest = Math.max(loudest, peaks[k] ?? 0);
    const half = Math.max(0.03, loudest / full).toFixed(3);
    path += `M${i + 0.15} ${1 - Number(half)}h.7V${1 + Number(half)}h-.7Z`;
  }
  return path;
}
