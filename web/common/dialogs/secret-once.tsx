import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button, Group, Stack, Textarea, TextInput } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { IconCheck, IconCopy, IconEyeOff } from "@tabler/icons-react";

import { useSecretInDialog } from "./form-dialog.tsx";

interface SecretProps {
  readonly label: string;
  readonly value: string;
  /** Notes about the secret. */
  readonly children?: React.ReactNode;
  /** Replaces the advice to copy it now. */
  readonly advice?: string;
  readonly onDone: () => void;
}

/** A secret that is shown only once, with a copy button. */
export function SecretOnce({ label, value, children, advice, onDone }: SecretProps) {
  useSecretInDialog();
  return (
    <Stack>
      <Alert variant="light" color="yellow" icon={<IconEyeOff size={18} aria-hidden />} c="bright">
        {advice ?? <Trans>Copy it now. You won't see it again.</Trans>}
      </Alert>
      <CopyField label={label} value={value} />
      {children}
      <Group justify="flex-end">
        <Button variant="default" onClick={onDone}>
          <Trans>Done</Trans>
        </Button>
      </Group>
    </Stack>
  );
}

/** A read-only text of one or more lines with a copy button; it can be selected where the browser blocks clipboard access. */
export function CopyField({
  label,
  description,
  value,
}: {
  label: string;
  description?: string;
  value: string;
}) {
  const { t } = useLingui();
  const clipboard = useClipboard({ timeout: 2500 });
  const lines = value.split("\n").length;
  const Field = lines > 1 ? Textarea : TextInput;
  return (
    <Group align="flex-end" gap="xs" wrap="nowrap">
      <Field
        {...(lines > 1 ? { rows: lines } : {})}
        label={label}
        description={description}
        value={value}
        readOnly
        flex={1}
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: 13 } }}
        onFocus={(event) => event.currentTarget.select()}
        error={clipboard.error === null ? undefined : t`Couldn't copy. Select and copy it manually.`}
      />
      <Button
        variant="light"
        miw={112}
        leftSection={clipboard.copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
        onClick={() => clipboard.copy(value)}
      >
        {clipboard.copied ? t`Copied` : t`Copy`}
      </Button>
    </Group>
  );
}
