import { Trans } from "@lingui/react/macro";
import { Alert, Text } from "@mantine/core";
import { IconShieldPause } from "@tabler/icons-react";
import type { Session } from "../api/session.ts";

/** Says on every page that this is a restored copy, so that nobody takes it for the original by mistake. */
export function QuarantineNotice({ session: { quarantine, user } }: { session: Session }) {
  if (quarantine === null) return null;
  return (
    <Alert
      color="orange"
      icon={<IconShieldPause size={20} aria-hidden />}
      title={
        <Text c="bright" fw={600} size="sm" span>
          <Trans>This is a restored backup</Trans>
        </Text>
      }
      mb="md"
      role="status"
    >
      {user.role === "admin" ? (
        <Trans>
          Webhooks, emails and deletion by age are off. To turn them on, run “parley restore accept” on the
          server.
        </Trans>
      ) : (
        <Trans>Webhooks, emails and deletion by age are off. Changes here may be lost.</Trans>
      )}
    </Alert>
  );
}
