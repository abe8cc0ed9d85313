import { plural } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { Button, Text, Tooltip, UnstyledButton } from "@mantine/core";
import { useMemo, useState } from "react";
import type { Segment, Transcript } from "../../api/recording/recording.ts";
import { percent } from "../../common/format/numbers.ts";
import { lengthInWords } from "../../common/format/time.ts";
import {
  byTalk,
  colorsOf,
  segmentSpeakerKey,
  speakerKey,
  talkShare,
  timelinePath,
} from "../../common/speakers.ts";
import { usePlaybackState, usePlayerContext } from "../context.ts";
import classes from "./speaker-timeline.module.css";

/** Rows shown before the user expands the list. */
const maxCollapsedRows = 3;
const columns = 800;

/** Shows when each speaker talks, with their share of talk time. */
export function SpeakerTimeline({ transcript }: { transcript: Transcript }) {
  const { t } = useLingui();
  const [isAll, setAll] = useState(false);
  const speakers = useMemo(() => byTalk(transcript.speakers), [transcript]);
  const colors = useMemo(() => colorsOf(transcript.speakers), [transcript]);
  const bySpeaker = useMemo(
    () => Map.groupBy(transcript.segments, (segment) => segmentSpeakerKey(segment)),
    [transcript],
  );
  if (speakers.length === 0) return null;
  const shown = isAll ? speakers : speakers.slice(0, maxCollapsedRows);
  return (
    <section className={classes.timeline} aria-label={t`Speaker timeline`}>
      {shown.map((speaker) => {
        const key = speakerKey(speaker);
        return (
          <SpeakerRow
            key={key}
            name={speaker.name}
            share={talkShare(speaker, speakers)}
            talkTime={lengthInWords(speaker.duration_ms)}
            color={`var(--mantine-color-${colors.get(key) ?? "gray"}-filled)`}
            segments={bySpeaker.get(key) ?? noSegments}
          />
        );
      })}
      {speakers.length > maxCollapsedRows ? (
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          aria-expanded={isAll}
          onClick={() => setAll(!isAll)}
        >
          {isAll
            ? t`Show fewer`
            : plural({ count: speakers.length }, { one: "Show the speaker", other: "Show all # speakers" })}
        </Button>
      ) : null}
    </section>
  );
}

const noSegments: readonly Segment[] = [];

function SpeakerRow(props: {
  name: string;
  share: number;
  talkTime: string;
  color: string;
  segments: readonly Segment[];
}) {
  const { t } = useLingui();
  const { name, share, talkTime, color, segments } = props;
  const { goTo, playback, ...player } = usePlayerContext();
  const durationMs = Math.max(1, player.durationMs, segments.at(-1)?.end ?? 0);
  const path = useMemo(() => timelinePath(segments, durationMs, columns), [segments, durationMs]);
  const next = (): void => {
    const now = playback.getState().timeMs;
    const segment = segments.find(({ start }) => start > now + 50) ?? segments[0];
    if (segment !== undefined) goTo(segment.start);
  };
  return (
    <div className={classes.row}>
      <Tooltip
        withinPortal={false}
        label={t`${name} · ${talkTime} · go to next`}
        openDelay={300}
        multiline
        maw={280}
      >
        <UnstyledButton className={classes.name ?? ""} onClick={next} dir="auto">
          {name}
        </UnstyledButton>
      </Tooltip>
      {/* biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: the speaker's name and the transcript do the same by keyboard. */}
      <div
        className={classes.strip}
        // Time runs from left to right in every language.
        dir="ltr"
        onClick={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          goTo(((event.clientX - box.left) / box.width) * durationMs);
        }}
      >
        <svg viewBox={`0 0 ${columns} 1`} preserveAspectRatio="none" role="presentation">
          <path d={path} style={{ fill: color }} />
        </svg>
        <Playhead durationMs={durationMs} />
      </div>
      <Text span className={classes.share ?? ""}>
        {percent(share / 100)}
      </Text>
    </div>
  );
}

function Playhead({ durationMs }: { durationMs: number }) {
  const share = usePlaybackState((state) => Math.round((state.timeMs / durationMs) * 1000) / 10);
  return <span className={classes.playhead} style={{ left: `${Math.min(100, share)}%` }} />;
}
