import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Button, Center, Group, Stack, Text, ThemeIcon, Title } from "@mantine/core";
import { IconAlertTriangle, IconMoodEmpty, IconRefresh } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import { ApiError } from "../api/client/api-error.ts";

/** Shown when there is no content, with what to do about it. */
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

/** Shown when content failed to load, with a button to try again or reload. */
export function ErrorState({ error, retry }: { error: unknown; retry?: () => void }) {
  const { title, detail, needsReload } = describe(error);
  // Browsers cache a failed module load: only a reload helps.
  const isPart = isPartNotLoaded(error);
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
        <Group justify="center" gap="xs">
          {retry === undefined || isPart ? null : (
            <Button variant="light" leftSection={<IconRefresh size={18} />} onClick={retry}>
              <Trans>Try again</Trans>
            </Button>
          )}
          {needsReload ? <ReloadButton /> : null}
        </Group>
      </Stack>
    </Center>
  );
}

/** Whether the server responds at all, with any status. */
export async function canReachServer(): Promise<boolean> {
  try {
    await fetch("/icon.svg", { method: "HEAD", cache: "no-store" });
    return true;
  } catch {
    return false;
  }
}

/** Reloads the page, once the server can be reached: offline, a reload would replace the app with the browser's own error. */
export function ReloadButton() {
  const [state, setState] = useState<"idle" | "checking" | "offline">("idle");
  const reload = async (): Promise<void> => {
    setState("checking");
    if (await canReachServer()) window.location.reload();
    else setState("offline");
  };
  return (
    <>
      <Button variant="default" loading={state === "checking"} onClick={reload}>
        <Trans>Reload</Trans>
      </Button>
      {state === "offline" ? (
        <Text size="sm" role="status">
          <Trans>The server still can't be reached.</Trans>
        </Text>
      ) : null}
    </>
  );
}

function isPartNotLoaded(error: unknown): boolean {
  return error instanceof Error && error.name === "PartNotLoadedError";
}

function describe(error: unknown): { title: string; detail: string; needsReload: boolean } {
  if (isPartNotLoaded(error))
    return {
      title: t`Couldn't load this part of the app`,
      detail: t`You may be offline, or Parley was updated. Reload the page.`,
      needsReload: true,
    };
  if (!(error instanceof ApiError))
    return { title: t`Something went wrong`, detail: t`Reload the page.`, needsReload: true };
  const needsReload = false;
  switch (error.code) {
    case "unreachable":
      return { title: t`No connection`, detail: error.message, needsReload };
    case "not_found":
      return { title: t`Not found`, detail: t`It was deleted, or isn't shared with you.`, needsReload };
    case "forbidden":
      return { title: t`Not allowed`, detail: error.message, needsReload };
    default:
      return { title: t`Couldn't load`, detail: error.message, needsReload };
  }
}
