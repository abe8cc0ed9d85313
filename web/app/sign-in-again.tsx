import { Button, Group, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { IconExternalLink } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { reportSignedIn } from "../api/client/signed-out.ts";
import { currentSession, type Session, sessionQuery, signIn, signInUrl } from "../api/session.ts";
import { FormError } from "../common/actions.tsx";
import { ownerOf } from "../common/drafts/store.ts";

/** How often to check whether the user has signed in in another tab. */
const checkMs = 3000;

/** Signs the same user in again. If another user has signed in meanwhile, offers to continue as that user. */
export function SignInAgain({ session }: { session: Session }) {
  const client = useQueryClient();
  const [password, setPassword] = useState("");
  const [other, setOther] = useState<Session | null>(null);
  const proceed = (now: Session): void => {
    if (ownerOf(now) === ownerOf(session)) {
      client.setQueryData(sessionQuery.queryKey, now);
      reportSignedIn();
    } else setOther(now);
  };
  const enter = useMutation({
    mutationFn: () => signIn({ email: session.user.email, password }),
    onSuccess: proceed,
  });
  useCheck(proceed);
  if (other !== null)
    return (
      <Stack>
        <Text size="sm">
          {other.user.name} ({other.user.email}) is now signed in to this browser. The unsaved changes of{" "}
          {session.user.name} stay in this browser until their next sign-in.
        </Text>
        <Button onClick={() => window.location.reload()}>Continue as {other.user.name}</Button>
      </Stack>
    );
  const newTab = (
    <Button
      component="a"
      href={signInUrl()}
      target="_blank"
      rel="noopener"
      variant={session.has_password ? "default" : "filled"}
      rightSection={<IconExternalLink size={16} aria-hidden />}
    >
      Sign in in a new tab
    </Button>
  );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        enter.mutate();
      }}
    >
      <Stack>
        <Text size="sm">
          This page stays as it is. Unsaved changes are kept, and saving continues once you are signed in.
        </Text>
        {session.has_password ? (
          <>
            <TextInput label="Email" autoComplete="username" readOnly value={session.user.email} />
            <PasswordInput
              label="Password"
              autoComplete="current-password"
              required
              data-autofocus
              value={password}
              onChange={(event) => setPassword(event.currentTarget.value)}
              visibilityToggleButtonProps={{ "aria-label": "Show password" }}
            />
          </>
        ) : null}
        <FormError error={enter.error} fields={[]} />
        <Group justify="space-between">
          {newTab}
          {session.has_password ? (
            <Button type="submit" loading={enter.isPending} disabled={password === ""}>
              Sign in
            </Button>
          ) : null}
        </Group>
      </Stack>
    </form>
  );
}

/** Polls the session while this page is visible, and when it becomes visible. */
function useCheck(onSignedIn: (session: Session) => void): void {
  useEffect(() => {
    let isGone = false;
    const check = async (): Promise<void> => {
      if (document.visibilityState !== "visible") return;
      // Connection lost: the next check may succeed.
      const now = await currentSession().catch(() => null);
      if (now !== null && !isGone) onSignedIn(now);
    };
    const timer = setInterval(check, checkMs);
    document.addEventListener("visibilitychange", check);
    window.addEventListener("focus", check);
    return () => {
      isGone = true;
      clearInterval(timer);
      document.removeEventListener("visibilitychange", check);
      window.removeEventListener("focus", check);
    };
  });
}
