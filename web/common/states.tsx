import { Button, Center, Stack, Text, ThemeIcon, Title } from "@mantine/core";
import { IconAlertTriangle, IconMoodEmpty, IconRefresh } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { ApiError } from "../api/client.ts";

/** What a place says when there is nothing to show, and what to do about it. */
export function EmptyState(props: {
  title: string;
  children?: ReactNode;
  icon?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <Center mih={320} p="lg">
      <Stack align="center" gap="xs" maw={420} ta="center">
        <ThemeIcon size={56} radius="xl" variant="light" aria-hidden>
          {props.icon ?? <IconMoodEmpty size={30} stroke={1.5} />}
        </ThemeIcon>
        <Title order={2} size="h3">
          {props.title}
        </Title>
        {props.children === undefined ? null : (
          <Text component="div" c="dimmed">
            {props.children}
          </Text>
        )}
        {props.action === undefined ? null : <div>{props.action}</div>}
      </Stack>
    </Center>
  );
}

/** What a place says when it could not be loaded: the server's words, and a way to try again. */
export function ErrorState({ error, retry }: { error: unknown; retry?: () => void }) {
  const { title, detail } = describe(error);
  return (
    <Center mih={320} p="lg">
      <Stack align="center" gap="xs" maw={460} ta="center" role="alert">
        <ThemeIcon size={56} radius="xl" variant="light" color="red" aria-hidden>
          <IconAlertTriangle size={30} stroke={1.5} />
        </ThemeIcon>
        <Title order={2} size="h3">
          {title}
        </Title>
        <Text c="dimmed">{detail}</Text>
        {retry === undefined ? null : (
          <Button variant="light" leftSection={<IconRefresh size={18} />} onClick={retry}>
            Try again
          </Button>
        )}
      </Stack>
    </Center>
  );
}

function describe(error: unknown): { title: string; detail: string } {
  if (!(error instanceof ApiError))
    return {
      title: "Something went wrong",
      detail: "This page ran into a fault of its own. Reload it, please.",
    };
  switch (error.code) {
    case "unreachable":
      return { title: "No connection", detail: error.message };
    case "not_found":
      return { title: "Not here", detail: "This was deleted, or it was never shared with you." };
    case "forbidden":
      return { title: "Not allowed", detail: error.message };
    default:
      return { title: "This could not be loaded", detail: error.message };
  }
}
