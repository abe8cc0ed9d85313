import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Paper, Text, Title } from "@mantine/core";
import { IconPlayerSkipBackFilled, IconPlayerSkipForwardFilled } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { clippedRecordingQuery, type HighlightBody } from "../api/highlights.ts";
import { clock, dayAndTime } from "../common/format/time.ts";
import { ClipPlayer } from "../highlights/clip-player.tsx";
import classes from "./stories.module.css";

/** Plays highlights in sequence, with a progress bar of the whole story. */
export function StoryPlayer(props: {
  highlights: readonly HighlightBody[];
  /** Index of the current highlight. */
  at: number;
  /** Whether the user has started the story; then highlights play automatically. */
  hasStarted: boolean;
  onMove: (place: number) => void;
}) {
  const { t } = useLingui();
  const { highlights, at, onMove } = props;
  const [position, setPosition] = useState(0);
  const [hasFollowed, setFollowed] = useState(false);
  const highlight = highlights[at];
  // biome-ignore lint/correctness/useExhaustiveDependencies: another clip starts at 0.
  useEffect(() => setPosition(0), [highlight?.id]);
  if (highlight === undefined) return null;
  const isLast = at === highlights.length - 1;
  return (
    <Paper withBorder radius="lg" p="md" component="section" aria-label={t`Player`}>
      <div className={classes.strip}>
        {highlights.map(({ id, duration, text }, place) => (
          <button
            key={id}
            type="button"
            className={classes.part}
            style={{ flexGrow: Math.max(1, duration) }}
            aria-label={t`Go to ${{ number: place + 1 }}: ${{ title: text }}`}
            aria-current={place === at ? "step" : undefined}
            title={text}
            onClick={() => onMove(place)}
          >
            <span
              style={{
                width: `${place < at ? 100 : place > at ? 0 : Math.min(100, (100 * position) / duration)}%`,
              }}
            />
          </button>
        ))}
      </div>
      <ClipPlayer
        highlight={highlight}
        autoPlay={props.hasStarted || hasFollowed}
        onPosition={setPosition}
        onEnded={() => {
          setFollowed(true);
          if (!isLast) onMove(at + 1);
        }}
      />
      <Group justify="space-between" align="flex-start" mt="sm" gap="xs">
        <div className={classes.grow} aria-live="polite">
          <Title order={2} size="h4" style={{ overflowWrap: "anywhere" }}>
            {highlight.text}
          </Title>
          <Origin highlight={highlight} place={t`${{ number: at + 1 }} of ${{ count: highlights.length }}`} />
        </div>
        <Group gap="xs">
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlayerSkipBackFilled size={14} />}
            disabled={at === 0}
            onClick={() => onMove(at - 1)}
          >
            <Trans>Previous</Trans>
          </Button>
          <Button
            variant="default"
            size="xs"
            rightSection={<IconPlayerSkipForwardFilled size={14} />}
            disabled={isLast}
            onClick={() => onMove(at + 1)}
          >
            <Trans>Next</Trans>
          </Button>
        </Group>
      </Group>
    </Paper>
  );
}

function Origin({ highlight, place }: { highlight: HighlightBody; place: string }) {
  const { t } = useLingui();
  const { data } = useQuery(clippedRecordingQuery(highlight.recording_id));
  const from = data === undefined ? [] : [data.title, dayAndTime(data.start_datetime)];
  return (
    <Text size="sm" c="dimmed">
      {[
        place,
        ...from,
        t({
          message: `from ${{ time: clock(highlight.timestamp) }}`,
          comment: "where a clip starts in its recording",
        }),
      ].join(" · ")}
    </Text>
  );
}
