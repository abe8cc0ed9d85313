import { useLingui } from "@lingui/react/macro";
import { ActionIcon, Indicator, Popover } from "@mantine/core";
import { useDisclosure, useDocumentVisibility } from "@mantine/hooks";
import { IconBell } from "@tabler/icons-react";
import { useRouterState } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { createPortal } from "react-dom";
import { maxUnread } from "../../contract/workspace/notification-kinds.ts";
import { markNotificationsRead } from "../api/notifications.ts";
import { lazyPart } from "../common/load-part.tsx";
import { useUnread } from "./use-unread.ts";

const List = lazyPart(async () => (await import("./list.tsx")).NotificationList);

/** The bell of the header, which has a place there before its code is loaded. */
export function Bell({ userId }: { userId: string }) {
  const place = document.getElementById("bell");
  return place === null ? null : createPortal(<BellButton key={userId} userId={userId} />, place);
}

function BellButton({ userId }: { userId: string }) {
  const { t } = useLingui();
  const [isOpen, { toggle, close }] = useDisclosure();
  const known = useUnread(userId);
  useReadWhenOpened(known);
  const unread = known ?? 0;
  const count = unread >= maxUnread ? `${maxUnread - 1}+` : String(unread);
  return (
    <Indicator label={count} size={16} offset={5} color="red" disabled={unread === 0}>
      <Popover
        opened={isOpen}
        onDismiss={close}
        position="bottom-end"
        width="min(400px, calc(100vw - 16px))"
        trapFocus
      >
        <Popover.Target>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            aria-label={unread === 0 ? t`Notifications` : t`Notifications, ${count} unread`}
            onClick={toggle}
          >
            <IconBell size={20} stroke={1.6} />
          </ActionIcon>
        </Popover.Target>
        <Popover.Dropdown p={0} aria-label={t`Notifications`}>
          {isOpen ? <List unread={unread} onClose={close} /> : null}
        </Popover.Dropdown>
      </Popover>
    </Indicator>
  );
}

/**
 * Marks the notifications about a recording as read when its page is opened. Those that arrive while it is open stay
 * unread: the user may be away, and what is read is not sent by email.
 */
function useReadWhenOpened(unread: number | null): void {
  const path = useRouterState({ select: (state) => state.location.pathname });
  const visibility = useDocumentVisibility();
  const opened = useRef<string | null>(null);
  useEffect(() => {
    if (unread === null || visibility !== "visible" || opened.current === path) return;
    opened.current = path;
    const recordingId = /^\/recordings\/([0-9a-f-]{36})$/i.exec(path)?.[1];
    if (recordingId === undefined || unread === 0) return;
    // Nobody asked for it, so its failure is not shown; the notifications stay unread.
    markNotificationsRead({ recording_id: recordingId }).catch(() => undefined);
  }, [unread, visibility, path]);
}
