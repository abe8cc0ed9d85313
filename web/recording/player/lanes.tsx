import { Button, Text, Tooltip, UnstyledButton } from "@mantine/core";
import { useMemo, useState } from "react";
import type { Segment, Transcript } from "../../api/recording.ts";
import { lengthInWords } from "../../common/time.ts";
import { byTalk, colorsOf, lanePath, segmentSpeakerKey, speakerKey, talkShare } from "../speakers.ts";
import { usePlaybackState, useWatching } from "../watching.ts";
import classes from "./lanes.module.css";

/** This many are shown until somebody asks for all. */
const fewLanes = 3;
const columns = 800;

/** Who speaks when: a lane for each, and how much of all talk is theirs. */
export function Lanes({ transcript }: { transcript: Transcript }) {
  const [isAll, setAll] = useState(false);
  const speakers = useMemo(() => byTalk(transcript.speakers), [transcript]);
  const colors = useMemo(() => colorsOf(transcript.speakers), [transcript]);
  const bySpeaker = useMemo(
    () => Map.groupBy(transcript.segments, (segment) => segmentSpeakerKey(segment)),
    [transcript],
  );
  if (speakers.length === 0) return null;
  const shown = isAll ? speakers : speakers.slice(0, fewLanes);
  return (
    <section className={classes.lanes} aria-label="Who speaks when">
      {shown.map((speaker) => {
        const key = speakerKey(speaker);
        return (
          <Lane
            key={key}
            name={speaker.name}
            share={talkShare(speaker, speakers)}
            spoken={lengthInWords(speaker.duration_ms)}
            color={`var(--mantine-color-${colors.get(key) ?? "gray"}-filled)`}
            segments={bySpeaker.get(key) ?? noSegments}
          />
        );
      })}
      {speakers.length > fewLanes ? (
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          aria-expanded={isAll}
          onClick={() => setAll(!isAll)}
        >
          {isAll ? "Show fewer" : `Show all ${speakers.length} speakers`}
        </Button>
      ) : null}
    </section>
  );
}

const noSegments: readonly Segment[] = [];

function Lane(props: {
  name: string;
  share: number;
  spoken: string;
  color: string;
  segments: readonly Segment[];
}) {
  const { name, share, spoken, color, segments } = props;
  const { goTo, playback, ...watching } = useWatching();
  const durationMs = Math.max(1, watching.durationMs, segments.at(-1)?.end ?? 0);
  const path = useMemo(() => lanePath(segments, durationMs, columns), [segments, durationMs]);
  const next = (): void => {
    const now = playback.getState().timeMs;
    const segment = segments.find(({ start }) => start > now + 50) ?? segments[0];
    if (segment !== undefined) goTo(segment.start);
  };
  return (
    <div className={classes.lane}>
      <Tooltip
        withinPortal={false}
        label={`${name} · ${spoken} · to what is said next`}
        openDelay={300}
        multiline
        maw={280}
      >
        <UnstyledButton className={classes.name ?? ""} onClick={next} dir="auto">
          {name}
        </UnstyledButton>
      </Tooltip>
      {/* biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: the name beside it and the transcript do the same by keyboard. */}
      <div
        className={classes.strip}
        onClick={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          goTo(((event.clientX - box.left) / box.width) * durationMs);
        }}
      >
        <svg viewBox={`0 0 ${columns} 1`} preserveAspectRatio="none" role="presentation">
          <path d={path} style={{ fill: color }} />
        </svg>
        <Needle durationMs={durationMs} />
      </div>
      <Text span className={classes.share ?? ""}>
        {share}%
      </Text>
    </div>
  );
}

function Needle({ durationMs }: { durationMs: number }) {
  const share = usePlaybackState((state) => Math.round((state.timeMs / durationMs) * 1000) / 10);
  return <span className={classes.needle} style={{ left: `${Math.min(100, share)}%` }} />;
}
