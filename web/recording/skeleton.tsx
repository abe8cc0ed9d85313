import { Trans } from "@lingui/react/macro";
import { Skeleton, VisuallyHidden } from "@mantine/core";
import classes from "./recording.module.css";

/** The placeholder of the recording page while it loads. */
export function RecordingSkeleton() {
  return (
    <div className={classes.page} aria-busy="true" data-filling>
      <VisuallyHidden component="h1">
        <Trans>Recording</Trans>
      </VisuallyHidden>
      <VisuallyHidden role="status">
        <Trans>Loading recording</Trans>
      </VisuallyHidden>
      <div>
        <Skeleton height={28} width="min(420px, 70%)" mb={12} />
        <Skeleton height={14} width="min(300px, 50%)" />
      </div>
      <div className={classes.columns}>
        <Skeleton className={classes.player ?? ""} style={{ aspectRatio: "16 / 10" }} radius="lg" />
        <Skeleton className={classes.panels ?? ""} radius="lg" />
      </div>
    </div>
  );
}
