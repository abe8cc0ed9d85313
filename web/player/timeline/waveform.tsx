import { useMemo } from "react";
import type { Waveform } from "../../api/recording/recording.ts";
import classes from "../player.module.css";

const bars = 240;
/** The smallest peak that fills the height, so that quiet recordings are scaled up but silence isn't. */
const minFullScale = 40;

/** The waveform; the played part has the accent color. */
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

/** One bar for the loudest peak of each section, mirrored about the center. */
function barsOf({ peaks }: Waveform): string {
  const full = peaks.reduce((max, peak) => Math.max(max, peak), minFullScale);
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
