import { Plural, Trans } from "@lingui/react/macro";
import { Alert, Anchor, Text } from "@mantine/core";
import { IconShieldLock } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";

/** Says on every page until when the user has to set up a second factor. */
export function SecondFactorNotice({ due }: { due: string }) {
  const days = Math.max(1, Math.ceil((Date.parse(due) - Date.now()) / 86_400_000));
  return (
    <Alert
      color="orange"
      icon={<IconShieldLock size={20} aria-hidden />}
      title={
        <Text c="bright" fw={600} size="sm" span>
          <Plural
            value={days}
            one="Set up two-factor authentication: # day left"
            other="Set up two-factor authentication: # days left"
          />
        </Text>
      }
      mb="md"
      role="status"
    >
      <Trans>
        Your workspace requires it. After that you can't use Parley until you have set it up.{" "}
        <Anchor component={Link} to="/settings" inherit c="inherit" underline="always">
          Open your profile
        </Anchor>
      </Trans>
    </Alert>
  );
}
