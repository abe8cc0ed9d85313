import { Skeleton } from "@mantine/core";
import classes from "./library.module.css";
import { Badges, Facts, Picture, TitleLink } from "./recording-parts.tsx";
import { ItemActions, type ItemProps, SelectBox } from "./row-controls.tsx";

/** A recording in the list. */
export function RecordingRow(props: ItemProps) {
  const { recording } = props.item;
  return (
    <div className={classes.row} data-selected={props.isSelected || undefined}>
      <Picture recording={recording} />
      <div>
        <TitleLink recording={recording} />
        <Facts recording={recording} />
      </div>
      <Badges recording={recording} />
      <ItemActions item={props.item} />
      <SelectBox {...props} />
    </div>
  );
}

export function RecordingRowSkeleton() {
  return (
    <div className={classes.row}>
      <Skeleton className={classes.picture ?? ""} />
      <div>
        <Skeleton height={16} width="55%" mb={10} />
        <Skeleton height={12} width="35%" />
      </div>
    </div>
  );
}
