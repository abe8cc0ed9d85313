import { useLingui } from "@lingui/react/macro";
import { Button } from "@mantine/core";
import { clock } from "../../common/format/time.ts";
import { useRecording } from "../context.ts";

/** A time that seeks to its position. */
export function MomentButton({ ms }: { ms: number }) {
  const { t } = useLingui();
  const { goTo } = useRecording();
  return (
    <Button
      size="compact-xs"
      variant="subtle"
      flex="none"
      onClick={() => goTo(ms)}
      aria-label={t`${{ time: clock(ms) }}, go to this moment`}
      style={{ fontVariantNumeric: "tabular-nums" }}
    >
      {clock(ms)}
    </Button>
  );
}
