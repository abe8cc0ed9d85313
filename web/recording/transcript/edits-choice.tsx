import { Radio, Stack } from "@mantine/core";

export type EditsChoice = "keep" | "discard";

/** Asks what becomes of what people changed in a transcript that another one is to replace. */
export function EditsRadio({
  value,
  onChange,
}: {
  value: EditsChoice;
  onChange: (value: EditsChoice) => void;
}) {
  return (
    <Radio.Group
      label="What people changed by hand"
      value={value}
      onChange={(chosen) => onChange(chosen as EditsChoice)}
    >
      <Stack gap="xs" mt="xs">
        <Radio value="keep" label="Write it into the new transcript, as far as its times allow" />
        <Radio value="discard" label="Drop it" />
      </Stack>
    </Radio.Group>
  );
}
