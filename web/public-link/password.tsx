import { t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Button, PasswordInput, Stack, Text, ThemeIcon, Title } from "@mantine/core";
import { IconLock } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../api/client/api-error.ts";
import { unlock } from "./api.ts";
import { Brand } from "./notice.tsx";
import classes from "./public-link.module.css";

/** Asks for a link's password. @param wasUnlocked whether an earlier password worked. */
export function PasswordPage(props: {
  token: string;
  wasUnlocked: boolean;
  /** Embeds must not take focus from the page around them. */
  isEmbed: boolean;
  onUnlock: (access: string) => void;
}) {
  const { t } = useLingui();
  const { token, wasUnlocked, isEmbed, onUnlock } = props;
  const [password, setPassword] = useState("");
  const open = useMutation({
    mutationFn: () => unlock(token, password),
    onSuccess: ({ access }) => onUnlock(access),
  });
  return (
    <main className={classes.notice}>
      <form
        className={classes.noticeWords}
        onSubmit={(event) => {
          event.preventDefault();
          if (password !== "") open.mutate();
        }}
      >
        <ThemeIcon size={56} radius="xl" variant="light" aria-hidden>
          <IconLock size={30} stroke={1.5} />
        </ThemeIcon>
        <Title order={1} size="h2">
          <Trans>Password required</Trans>
        </Title>
        <Text c="dimmed">
          {wasUnlocked
            ? t`Enter the password again. It was changed, or your access has expired.`
            : t`Ask the sender for the password.`}
        </Text>
        <Stack gap="sm" w="100%" maw={340} mt="xs">
          <PasswordInput
            label={t`Password`}
            ta="start"
            autoComplete="off"
            autoFocus={!isEmbed}
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            error={open.isError ? unlockErrorText(open.error) : null}
            visibilityToggleButtonProps={{ "aria-label": t`Show password` }}
          />
          <Button type="submit" loading={open.isPending} disabled={password === ""}>
            <Trans context="verb">Open</Trans>
          </Button>
        </Stack>
      </form>
      <Brand />
    </main>
  );
}

function unlockErrorText(error: unknown): string {
  if (!(error instanceof ApiError)) return t`Something went wrong. Try again.`;
  if (error.code === "password_wrong") return t`Incorrect password.`;
  if (error.code === "rate_limited") return t`Too many attempts. Wait a few minutes and try again.`;
  return error.message;
}
