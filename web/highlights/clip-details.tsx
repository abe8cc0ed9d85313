import { Anchor, Badge, Button, Group, Stack, Text } from "@mantine/core";
import { IconArrowUpRight } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { clippedRecordingQuery, type HighlightBody } from "../api/highlights.ts";
import { clock, dayAndTime } from "../common/time.ts";
import { momentAddress } from "./address.ts";
import { ClipPlayer } from "./clip-player.tsx";

/** A highlight to be played, with where it is from and what is said in it. */
export function ClipDetails({ highlight }: { highlight: HighlightBody }) {
  const recording = useQuery(clippedRecordingQuery(highlight.recording_id));
  const isWritten = recording.data?.media_type === "transcript";
  return (
    <Stack gap="sm">
      <ClipPlayer highlight={highlight} autoPlay />
      <Group justify="space-between" gap="xs">
        <Text size="sm" c="dimmed">
          {recording.data === undefined
            ? null
            : `${recording.data.title} · ${dayAndTime(recording.data.start_datetime)} · from ${clock(highlight.timestamp)}`}
        </Text>
        <Button
          component="a"
          href={momentAddress(highlight)}
          size="xs"
          variant="light"
          rightSection={<IconArrowUpRight size={16} aria-hidden />}
        >
          Open in the recording
        </Button>
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
      {isWritten || !highlight.transcript ? null : (
        <details>
          <Anchor component="summary" size="sm">
            What is said
          </Anchor>
          <Text size="sm" mt={6} style={{ whiteSpace: "pre-line" }}>
            {highlight.transcript}
          </Text>
        </details>
      )}
    </Stack>
  );
}
