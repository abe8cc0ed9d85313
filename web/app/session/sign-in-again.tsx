import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { IconExternalLink } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ApiError } from "../../api/client/api-error.ts";
import { release, type SignInReason } from "../../api/client/signed-out.ts";
import { hasPasskeys, signInWithPasskey } from "../../api/passkeys.ts";
import { currentSession, type Session, sessionQuery, signIn, signInUrl } from "../../api/session.ts";
import { FormError } from "../../common/actions.tsx";
import { ownerOf } from "../../common/drafts/store.ts";

/** How often to check whether the user has signed in in another tab. */
const checkMs = 3000;

/** Signs the same user in again, as often as the server asks for it. If another user has signed in meanwhile, offers to continue as that user. */
export function SignInAgain({ session, reason }: { session: Session; reason: SignInReason | null }) {
  const { t } = useLingui();
  const client = useQueryClient();
  const isProof = reason === "proof_required";
  const [password, setPassword] = useState("");
  const [code, setCode] = useState<string | null>(null);
  const [other, setOther] = useState<Session | null>(null);
  const proceed = (now: Session): void => {
    if (ownerOf(now) === ownerOf(session)) {
      client.setQueryData(sessionQuery.queryKey, now);
      release(true);
    } else setOther(now);
  };
  const enter = useMutation({
    mutationFn: () =>
      signIn({ email: session.user.email, password, ...(code === null ? {} : { code: code.trim() }) }),
    onSuccess: proceed,
    onError: (error) => {
      if (needsCode(error)) setCode("");
    },
  });
  const withPasskey = useMutation({ mutationFn: signInWithPasskey, onSuccess: proceed });
  // A session that is too old to prove anything still works.
  const old = isProof ? client.getQueryData(sessionQuery.queryKey)?.session?.id : undefined;
  useCheck((now) => {
    if (now.session?.id !== old) proceed(now);
  });
  if (other !== null) return <OtherUser now={other.user} before={session.user} />;
  const newTab = (
    <Button
      component="a"
      // The sign-in page has nothing to offer to who is signed in.
      href={isProof ? signInUrl("/sign-in/sso") : signInUrl()}
      target="_blank"
      rel="noopener"
      variant={session.has_password ? "default" : "filled"}
      rightSection={<IconExternalLink size={16} aria-hidden />}
    >
      <Trans>Sign in in a new tab</Trans>
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
          {isProof
            ? t`You signed in more than 15 minutes ago. To do this, sign in again; the page stays as it is.`
            : t`This page stays as it is. Unsaved changes are kept, and saving continues once you are signed in.`}
        </Text>
        {session.has_password ? (
          <>
            <TextInput label={t`Email`} autoComplete="username" readOnly value={session.user.email} />
            <PasswordInput
              label={t`Password`}
              autoComplete="current-password"
              required
              data-autofocus
              value={password}
              onChange={(event) => setPassword(event.currentTarget.value)}
              visibilityToggleButtonProps={{ "aria-label": t`Show password` }}
            />
            {code === null ? null : (
              <TextInput
                label={t`Code`}
                description={t`Of your authenticator app, or a recovery code.`}
                autoComplete="one-time-code"
                autoFocus
                required
                maxLength={100}
                value={code}
                onChange={(event) => setCode(event.currentTarget.value)}
              />
            )}
          </>
        ) : null}
        {hasPasskeys() ? (
          <Button variant="default" loading={withPasskey.isPending} onClick={() => withPasskey.mutate()}>
            <Trans>Use a passkey</Trans>
          </Button>
        ) : null}
        <FormError error={withPasskey.error ?? (needsCode(enter.error) ? null : enter.error)} fields={[]} />
        <Group justify="space-between">
          {isProof ? (
            <Button variant="default" onClick={() => release(false)}>
              <Trans>Cancel</Trans>
            </Button>
          ) : null}
          {isProof && session.has_password && session.session?.method !== "single_sign_on" ? null : newTab}
          {session.has_password ? (
            <Button type="submit" loading={enter.isPending} disabled={password === "" || code === ""}>
              <Trans>Sign in</Trans>
            </Button>
          ) : null}
        </Group>
      </Stack>
    </form>
  );
}

/** Offers to continue as the user who has signed in meanwhile. */
function OtherUser({ now, before }: { now: Session["user"]; before: Session["user"] }) {
  const { name, email } = now;
  const nameBefore = before.name;
  return (
    <Stack>
      <Text size="sm">
        <Trans>
          {name} ({email}) is now signed in to this browser. The unsaved changes of {nameBefore} stay in this
          browser until their next sign-in.
        </Trans>
      </Text>
      <Button onClick={() => window.location.reload()}>
        <Trans>Continue as {name}</Trans>
      </Button>
    </Stack>
  );
}

/** Whether the password was right, and the account asks for a code too. */
function needsCode(error: unknown): boolean {
  return error instanceof ApiError && error.code === "second_factor_required";
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
