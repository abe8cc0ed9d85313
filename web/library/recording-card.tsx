import { Box, Skeleton, Stack } from "@mantine/core";
import classes from "./library.module.css";
import { Badges, Facts, Picture, TitleLink } from "./recording-parts.tsx";
import { ItemActions, type ItemProps, SelectBox } from "./row-controls.tsx";

/** A recording in the grid. */
export function RecordingCard(props: ItemProps) {
  const { recording } = props.item;
  return (
    <div className={classes.card} data-selected={props.isSelected || undefined}>
      <Picture recording={recording} />
      <Stack gap={6} p="sm">
        <TitleLink recording={recording} />
        <Facts recording={recording} />
        <Badges recording={recording} />
      </Stack>
      <ItemActions item={props.item} />
      <SelectBox {...props} />
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
