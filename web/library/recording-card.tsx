import { Box, Skeleton, Stack } from "@mantine/core";
import type { RecordingBody } from "../api/recordings.ts";
import classes from "./library.module.css";
import { Badges, Facts, Picture, TitleLink } from "./recording-parts.tsx";

/** A recording in the grid. */
export function RecordingCard({ recording }: { recording: RecordingBody }) {
  return (
    <div className={classes.card}>
      <Picture recording={recording} />
      <Stack gap={6} p="sm">
        <TitleLink recording={recording} />
        <Facts recording={recording} />
        <Badges recording={recording} />
      </Stack>
    </div>
  );
}

export function RecordingCardSkeleton() {
  return (
    <div className={classes.card}>
      <Skeleton className={classes.picture ?? ""} />
      <Box p="sm">
        <Skeleton height={16} width="75%" mb={10} />
        <Skeleton height={12} width="50%" />
      </Box>
    </div>
  );
}
