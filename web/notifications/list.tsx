import { Trans, useLingui } from "@lingui/react/macro";
import {
  ActionIcon,
  Button,
  Center,
  Group,
  Loader,
  ScrollArea,
  Text,
  Title,
  VisuallyHidden,
} from "@mantine/core";
import { IconSettings } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useRouter } from "@tanstack/react-router";
import {
  markNotificationsRead,
  type Notification,
  notificationsKey,
  notificationsQuery,
} from "../api/notifications.ts";
import { errorText, useAction } from "../common/actions.tsx";
import { ServerText } from "../common/format/server-text.tsx";
import { whenInLine } from "../common/format/time.ts";
import classes from "./notifications.module.css";

/** The notifications of the user, grouped by recording. */
export function NotificationList({ unread, onClose }: { unread: number; onClose: () => void }) {
  const { t } = useLingui();
  const query = useInfiniteQuery(notificationsQuery);
  const read = useAction({ run: markNotificationsRead, refresh: [notificationsKey] });
  const groups = groupsOf(query.data?.pages.flatMap((page) => page.notifications) ?? []);
  return (
    <>
      <Group px="md" py="xs" gap="xs" wrap="nowrap" className={classes.head}>
        <Title order={2} size="h5" flex={1}>
          <Trans>Notifications</Trans>
        </Title>
        <Button
          variant="subtle"
          size="compact-sm"
          disabled={unread === 0}
          onClick={() => read.mutate({ all: true })}
        >
          <Trans>Mark all as read</Trans>
        </Button>
        <ActionIcon
          component={Link}
          to="/settings/notifications"
          variant="subtle"
          color="gray"
          aria-label={t`Notification settings`}
          onClick={onClose}
        >
          <IconSettings size={18} stroke={1.6} />
        </ActionIcon>
      </Group>
      <ScrollArea.Autosize
        mah="min(480px, calc(100dvh - 140px))"
        type="auto"
        scrollbars="y"
        classNames={{ content: classes.content ?? "" }}
      >
        {query.isPending ? (
          <Center p="xl">
            <Loader size="sm" role="img" aria-label={t`Loading`} />
          </Center>
        ) : null}
        {query.error === null ? null : (
          <Text p="md" c="red" role="alert">
            {errorText(query.error)}
          </Text>
        )}
        {query.isSuccess && groups.length === 0 ? (
          <Text p="xl" ta="center" c="dimmed">
            <Trans>No notifications yet. Mentions, shared recordings and failures appear here.</Trans>
          </Text>
        ) : null}
        {groups.map((group) => (
          <section key={group[0].id} aria-label={group[0].recording_title ?? t`Other`}>
            {group[0].recording_title === null ? null : (
              <Text px="md" pt="sm" fw={600} size="sm" truncate>
                {group[0].recording_title}
              </Text>
            )}
            <ul className={classes.group}>
              {group.map((one) => (
                <Item
                  key={one.id}
                  notification={one}
                  onOpen={() => {
                    if (one.read_datetime === null) read.mutate({ ids: [one.id] });
                    onClose();
                  }}
                />
              ))}
            </ul>
          </section>
        ))}
        {query.hasNextPage ? (
          <Center p="sm">
            <Button
              variant="subtle"
              size="compact-sm"
              loading={query.isFetchingNextPage}
              onClick={() => query.fetchNextPage()}
            >
              <Trans>Show more</Trans>
            </Button>
          </Center>
        ) : null}
      </ScrollArea.Autosize>
    </>
  );
}

/** Whether the text is one that the server recorded, in English. */
function isErrorOfServer(kind: Notification["kind"]): boolean {
  return kind === "import_ended" || kind === "backup_failed" || kind === "disk_nearly_full";
}

function Item({ notification, onOpen }: { notification: Notification; onOpen: () => void }) {
  const router = useRouter();
  const { pathname, search } = new URL(notification.url);
  const isUnread = notification.read_datetime === null;
  return (
    <li>
      <a
        href={pathname + search}
        className={classes.item}
        data-unread={isUnread || undefined}
        onClick={(event) => {
          onOpen();
          // In a new tab or window as for every link.
          if (event.metaKey || event.ctrlKey || event.shiftKey) return;
          event.preventDefault();
          router.history.push(pathname + search);
        }}
      >
        <Text span size="sm" fw={isUnread ? 600 : 400}>
          {isUnread ? (
            <VisuallyHidden>
              <Trans>Unread:</Trans>{" "}
            </VisuallyHidden>
          ) : null}
          {notification.title}
        </Text>
        {notification.text === null ? null : (
          <Text span size="sm" c="dimmed" lineClamp={2}>
            {isErrorOfServer(notification.kind) ? <ServerText text={notification.text} /> : notification.text}
          </Text>
        )}
        <Text span size="xs" c="dimmed">
          {whenInLine(notification.created_datetime)}
        </Text>
      </a>
    </li>
  );
}

type Notifications = [Notification, ...Notification[]];

/** Those of a recording together, at the place of the newest; those of none each on their own. */
function groupsOf(notifications: readonly Notification[]): Notifications[] {
  const groups = new Map<string, Notifications>();
  for (const one of notifications) {
    const key = one.recording_id ?? one.id;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return [...groups.values()];
}
