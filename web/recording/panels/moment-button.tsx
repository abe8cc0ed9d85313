import { Button } from "@mantine/core";
import { clock } from "../../common/time.ts";
import { useRecording } from "../context.ts";

/** A time that leads to its moment. */
export function MomentButton({ ms }: { ms: number }) {
  const { goTo } = useRecording();
  return (
    <Button
      size="compact-xs"
      variant="subtle"
      flex="none"
      onClick={() => goTo(ms)}
      aria-label={`${clock(ms)}, go there`}
      style={{ fontVariantNumeric: "tabular-nums" }}
    >
      {clock(ms)}
    </Button>
  );
}
