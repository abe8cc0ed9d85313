import { Button, PasswordInput, Stack, Text, ThemeIcon, Title } from "@mantine/core";
import { IconLock } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../api/client.ts";
import { unlock } from "./api.ts";
import { Mark } from "./notice.tsx";
import classes from "./shared.module.css";

/** Asks for the password of a link. @param wasOpen it was given before, and is another one now. */
export function PasswordPage(props: {
  token: string;
  wasOpen: boolean;
  /** In a frame nobody takes the focus from the page around it. */
  isEmbed: boolean;
  onOpen: (access: string) => void;
}) {
  const { token, wasOpen, isEmbed, onOpen } = props;
  const [password, setPassword] = useState("");
  const open = useMutation({
    mutationFn: () => unlock(token, password),
    onSuccess: ({ access }) => onOpen(access),
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
          This link has a password
        </Title>
        <Text c="dimmed">
          {wasOpen
            ? "The password has to be given again: it was changed, or it was given long ago."
            : "Whoever sent you the link can tell you."}
        </Text>
        <Stack gap="sm" w="100%" maw={340} mt="xs">
          <PasswordInput
            label="Password"
            ta="left"
            autoComplete="off"
            autoFocus={!isEmbed}
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            error={open.isError ? refusalOf(open.error) : null}
            visibilityToggleButtonProps={{ "aria-label": "Show the password" }}
          />
          <Button type="submit" loading={open.isPending} disabled={password === ""}>
            Open
          </Button>
        </Stack>
      </form>
      <Mark />
    </main>
  );
}

function refusalOf(error: unknown): string {
  if (!(error instanceof ApiError)) return "Something went wrong.";
  if (error.code === "password_wrong") return "This is not the password.";
  if (error.code === "rate_limited") return "That was wrong too often. Wait a few minutes, and try again.";
  return error.message;
}
