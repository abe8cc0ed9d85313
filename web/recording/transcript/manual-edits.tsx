import { useLingui } from "@lingui/react/macro";
import { Radio, Stack } from "@mantine/core";

export type ManualEdits = "keep" | "discard";

/** Asks what to do with manual edits when a transcript is replaced. */
export function ManualEditsRadio({
  value,
  onChange,
}: {
  value: ManualEdits;
  onChange: (value: ManualEdits) => void;
}) {
  const { t } = useLingui();
  return (
    <Radio.Group label={t`Manual edits`} value={value} onChange={(chosen) => onChange(chosen as ManualEdits)}>
      <Stack gap="xs" mt="xs">
        <Radio value="keep" label={t`Reapply edits where the timing matches`} />
        <Radio value="discard" label={t`Discard`} />
      </Stack>
    </Radio.Group>
  );
}
