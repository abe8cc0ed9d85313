import { Plural } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import { keptLength } from "../../shared/files/ends-early.ts";
import { number } from "../common/format/numbers.ts";

interface Lengths {
  readonly keptMs: number;
  /** null if unknown. */
  readonly expectedMs: number | null;
}

/** Says how much of a file that was cut off became this recording. */
export function EndsEarly(lengths: Lengths) {
  return (
    <Text size="sm" role="note">
      <KeptText {...lengths} />
    </Text>
  );
}

function KeptText({ keptMs, expectedMs }: Lengths) {
  const { unit, kept, expected } = keptLength(keptMs, expectedMs);
  if (expected === null)
    return unit === "minute" ? (
      <Plural
        value={kept}
        one="The file ends early: # minute was kept. How much is missing is unknown."
        other="The file ends early: # minutes were kept. How much is missing is unknown."
      />
    ) : (
      <Plural
        value={kept}
        one="The file ends early: # second was kept. How much is missing is unknown."
        other="The file ends early: # seconds were kept. How much is missing is unknown."
      />
    );
  const part = number(kept);
  return unit === "minute" ? (
    <Plural
      value={expected}
      one={`The file ends early: ${part} of about # minute was kept.`}
      other={`The file ends early: ${part} of about # minutes were kept.`}
    />
  ) : (
    <Plural
      value={expected}
      one={`The file ends early: ${part} of about # second was kept.`}
      other={`The file ends early: ${part} of about # seconds were kept.`}
    />
  );
}
