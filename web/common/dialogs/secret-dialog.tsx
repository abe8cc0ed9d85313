import { Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { FormDialog } from "./form-dialog.tsx";
import { SecretOnce } from "./secret-once.tsx";

/** Creates something that has a secret: first its form, then the secret, which is shown once. */
export function SecretDialog(props: {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** The title once it is created. */
  readonly createdTitle: string;
  /** What the secret is called. */
  readonly label: string;
  readonly form: (on: { created: (secret: string) => void; cancel: () => void }) => ReactNode;
  /** What to do with the secret. */
  readonly children: ReactNode;
}) {
  const { opened, onClose, title, createdTitle, label, form, children } = props;
  const [secret, setSecret] = useState<string | null>(null);
  const close = () => {
    setSecret(null);
    onClose();
  };
  return (
    <FormDialog opened={opened} onClose={close} title={secret === null ? title : createdTitle} centered>
      {secret === null ? (
        form({ created: setSecret, cancel: close })
      ) : (
        <SecretOnce label={label} value={secret} onDone={close}>
          <Text size="sm" c="dimmed">
            {children}
          </Text>
        </SecretOnce>
      )}
    </FormDialog>
  );
}
