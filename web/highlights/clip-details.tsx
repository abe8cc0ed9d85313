import { Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Badge, Button, Group, Stack, Text } from "@mantine/core";
import { IconArrowUpRight } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { clippedRecordingQuery, type HighlightBody } from "../api/highlights.ts";
import { clock, dayAndTime } from "../common/format/time.ts";
import { ClipPlayer } from "./clip-player.tsx";
import { DownloadButton } from "./download-button.tsx";
import { momentUrl } from "./url.ts";

/** A highlight's player, with its recording, tags and transcript. */
export function ClipDetails({ highlight }: { highlight: HighlightBody }) {
  const { t } = useLingui();
  const recording = useQuery(clippedRecordingQuery(highlight.recording_id));
  const isTranscript = recording.data?.media_type === "transcript";
  return (
    <Stack gap="sm">
      <ClipPlayer highlight={highlight} autoPlay />
      <Group justify="space-between" gap="xs">
        <Text size="sm" c="dimmed">
          {recording.data === undefined
            ? null
            : [
                recording.data.title,
                dayAndTime(recording.data.start_datetime),
                t({
                  message: `from ${{ time: clock(highlight.timestamp) }}`,
                  comment: "where a clip starts in its recording",
                }),
              ].join(" · ")}
        </Text>
        <Group gap="xs">
          {recording.data === undefined || isTranscript ? null : (
            <DownloadButton highlightId={highlight.id} />
          )}
          <Button
            component="a"
            href={momentUrl(highlight)}
            size="xs"
            variant="light"
            rightSection={<IconArrowUpRight size={16} aria-hidden />}
          >
            <Trans>Open in recording</Trans>
          </Button>
        </Group>
      </Group>
      {highlight.tags.length === 0 ? null : (
        <Group gap={6}>
          {highlight.tags.map((tag) => (
            <Badge key={tag} variant="default" tt="none" fw={500}>
              {tag}
            </Badge>
          ))}
        </Group>
      )}
      {isTranscript || !highlight.transcript ? null : (
        <details>
          <Anchor component="summary" size="sm">
            <Trans>Transcript</Trans>
          </Anchor>
          <Text size="sm" mt={6} style={{ whiteSpace: "pre-line" }}>
            {highlight.transcript}
          </Text>
        </details>
      )}
    </Stack>
  );
}
