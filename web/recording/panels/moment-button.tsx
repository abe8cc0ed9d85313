import { useLingui } from "@lingui/react/macro";
import { Button, Tooltip, VisuallyHidden } from "@mantine/core";
import { useId } from "react";
import { clock } from "../../common/format/time.ts";
import { useRecording } from "../context.ts";

/** A time that seeks to its position. @param props.quote the words that are said there; empty: not known. */
export function MomentButton({ ms, quote = "" }: { ms: number; quote?: string }) {
  const { t } = useLingui();
  const { goTo } = useRecording();
  const id = useId();
  const button = (
    <Button
      size="compact-xs"
      variant="subtle"
      flex="none"
      onClick={() => goTo(ms)}
      aria-label={t`${{ time: clock(ms) }}, go to this moment`}
      aria-describedby={quote === "" ? undefined : id}
      style={{ fontVariantNumeric: "tabular-nums" }}
    >
      {clock(ms)}
    </Button>
  );
  if (quote === "") return button;
  const words = t`“${quote}”`;
  return (
    <>
      <Tooltip label={words} multiline maw={360} events={{ hover: true, focus: true, touch: true }}>
        {button}
      </Tooltip>
      <VisuallyHidden id={id}>{words}</VisuallyHidden>
    </>
  );
}
