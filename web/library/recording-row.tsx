import { Skeleton } from "@mantine/core";
import { memo } from "react";
import rows from "../common/lists/rows.module.css";
import pictureClasses from "../common/picture.module.css";
import { Picture } from "../common/picture.tsx";
import classes from "./library.module.css";
import { Badges, Facts, TitleLink } from "./recording-parts.tsx";
import { ItemButtons, type ItemProps, SelectBox } from "./row-controls.tsx";

/** A recording in the list. */
export const RecordingRow = memo(function RecordingRow(props: ItemProps) {
  const { recording } = props.item;
  return (
    <div className={`${rows.linked} ${classes.row}`} data-selected={props.isSelected || undefined}>
      <Picture recording={recording} />
      <div>
        <TitleLink recording={recording} />
        <Facts recording={recording} />
      </div>
      <Badges recording={recording} />
      <ItemButtons {...props} />
      <SelectBox {...props} />
    </div>
  );
});

export function RecordingRowSkeleton() {
  return (
    <div className={classes.row}>
      <Skeleton className={pictureClasses.picture ?? ""} />
      <div>
        <Skeleton height={16} width="55%" mb={10} />
        <Skeleton height={12} width="35%" />
      </div>
    </div>
  );
}
