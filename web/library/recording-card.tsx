import { Box, Skeleton } from "@mantine/core";
import { memo } from "react";
import rows from "../common/lists/rows.module.css";
import pictureClasses from "../common/picture.module.css";
import { Picture } from "../common/picture.tsx";
import classes from "./library.module.css";
import { Badges, Facts, TitleLink } from "./recording-parts.tsx";
import { ItemButtons, type ItemProps, SelectBox } from "./row-controls.tsx";

/** A recording in the grid. */
export const RecordingCard = memo(function RecordingCard(props: ItemProps) {
  const { recording } = props.item;
  return (
    <div className={`${rows.linked} ${classes.card}`} data-selected={props.isSelected || undefined}>
      <Picture recording={recording} />
      <div className={classes.about}>
        <TitleLink recording={recording} />
        <Facts recording={recording} />
        <Badges recording={recording} />
      </div>
      <ItemButtons {...props} />
      <SelectBox {...props} />
    </div>
  );
});

export function RecordingCardSkeleton() {
  return (
    <div className={classes.card}>
      <Skeleton className={pictureClasses.picture ?? ""} />
      <Box p="sm">
        <Skeleton height={16} width="75%" mb={10} />
        <Skeleton height={12} width="50%" />
      </Box>
    </div>
  );
}
