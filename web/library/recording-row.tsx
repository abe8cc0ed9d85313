import { Skeleton } from "@mantine/core";
import type { RecordingBody } from "../api/recordings.ts";
import classes from "./library.module.css";
import { Badges, Facts, Picture, TitleLink } from "./recording-parts.tsx";

/** A recording in the list. */
export function RecordingRow({ recording }: { recording: RecordingBody }) {
  return (
    <div className={classes.row}>
      <Picture recording={recording} />
      <div>
        <TitleLink recording={recording} />
        <Facts recording={recording} />
      </div>
      <Badges recording={recording} />
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
