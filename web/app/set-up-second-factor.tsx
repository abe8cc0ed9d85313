import { Button, Group, Stack, Text, Title } from "@mantine/core";
import { useState } from "react";
import type { Session } from "../api/session.ts";
import { useTitle } from "../common/use-title.ts";
import { type Step, TwoFactorSteps } from "../settings/account/two-factor.tsx";
import { useSignOut } from "./sign-out.tsx";

/** In place of the app, where the workspace requires a second factor that the user has not set up in time. */
export function SetUpSecondFactor({ session }: { session: Session }) {
  const [step, setStep] = useState<Step>({ kind: "password" });
  const signOut = useSignOut(session);
  useTitle("Set up two-factor authentication");
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
          {step.kind === "codes" ? "Keep your recovery codes" : "Set up two-factor authentication"}
        </Title>
        {step.kind === "codes" ? null : (
          <Text c="dimmed" mt={4}>
            {session.workspace.name} requires a code of an authenticator app beside your password. It takes a
            minute, and you can continue then.
          </Text>
        )}
      </div>
      <TwoFactorSteps step={step} onStep={setStep} onDone={() => window.location.reload()} />
      {step.kind === "codes" ? null : (
        <Group gap="xs">
          <Text size="sm" c="dimmed">
            Signed in as {session.user.email}
          </Text>
          <Button variant="subtle" size="compact-sm" onClick={signOut.run}>
            Sign out
          </Button>
        </Group>
      )}
      {signOut.dialog}
    </Stack>
  );
}
