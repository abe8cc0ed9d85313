import { Alert, Button, Group, Stack, TextInput } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { IconCheck, IconCopy, IconEyeOff } from "@tabler/icons-react";

interface SecretProps {
  readonly label: string;
  readonly value: string;
  /** What it is for, or what to know about it. */
  readonly children?: React.ReactNode;
  readonly onDone: () => void;
}

/** A secret that is shown this once: to be copied before it is gone. */
export function SecretOnce({ label, value, children, onDone }: SecretProps) {
  return (
    <Stack>
      <Alert variant="light" color="yellow" icon={<IconEyeOff size={18} aria-hidden />} c="bright">
        Copy it now: it is not kept in clear and can't be shown again.
      </Alert>
      <CopyField label={label} value={value} />
      {children}
      <Group justify="flex-end">
        <Button variant="default" onClick={onDone}>
          Done
        </Button>
      </Group>
    </Stack>
  );
}

/** A text to be copied: by its button, or selected where the browser lets no script at the clipboard. */
export function CopyField({ label, value }: { label: string; value: string }) {
  const clipboard = useClipboard({ timeout: 2500 });
  return (
    <Group align="flex-end" gap="xs" wrap="nowrap">
      <TextInput
        label={label}
        value={value}
        readOnly
        flex={1}
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: 13 } }}
        onFocus={(event) => event.currentTarget.select()}
        error={clipboard.error === null ? undefined : "Could not copy: select it and copy it yourself."}
      />
      <Button
        variant="light"
        miw={112}
        leftSection={clipboard.copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
        onClick={() => clipboard.copy(value)}
      >
        {clipboard.copied ? "Copied" : "Copy"}
      </Button>
    </Group>
  );
}
