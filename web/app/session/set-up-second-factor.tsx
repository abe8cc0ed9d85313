import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Stack, Text, Title } from "@mantine/core";
import { useState } from "react";
import type { Session } from "../../api/session.ts";
import { useTitle } from "../../common/use-title.ts";
import { type Step, TwoFactorSteps } from "../../settings/account/two-factor.tsx";
import { useSignOut } from "./sign-out.tsx";

/** In place of the app, where the workspace requires a second factor that the user has not set up in time. */
export function SetUpSecondFactor({ session }: { session: Session }) {
  const { t } = useLingui();
  const [step, setStep] = useState<Step>({ kind: "password" });
  const signOut = useSignOut(session);
  const { email } = session.user;
  const workspace = session.workspace.name;
  useTitle(t`Set up two-factor authentication`);
  return (
    <Stack component="main" id="main" maw={440} mx="auto" px="md" py={48} gap="lg">
      <Group gap={8}>
        <img src="/icon.svg" width={28} height={28} alt="" />
        <Text fw={700} size="lg" span>
          Parley
        </Text>
      </Group>
      <div>
        <Title order={1} size="h2">
          {step.kind === "codes" ? t`Keep your recovery codes` : t`Set up two-factor authentication`}
        </Title>
        {step.kind === "codes" ? null : (
          <Text c="dimmed" mt={4}>
            <Trans>
              {workspace} requires a code of an authenticator app beside your password. It takes a minute, and
              you can continue then.
            </Trans>
          </Text>
        )}
      </div>
      <TwoFactorSteps step={step} onStep={setStep} onDone={() => window.location.reload()} />
      {step.kind === "codes" ? null : (
        <Group gap="xs">
          <Text size="sm" c="dimmed">
            <Trans>Signed in as {email}</Trans>
          </Text>
          <Button variant="subtle" size="compact-sm" onClick={signOut.run}>
            <Trans>Sign out</Trans>
          </Button>
        </Group>
      )}
      {signOut.dialog}
    </Stack>
  );
}
