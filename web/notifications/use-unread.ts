import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type NotificationState, streamNotifications } from "../../contract/workspace/notifications.ts";
import { notificationsKey } from "../api/notifications.ts";

/** Pause before connecting again after a response that was no stream, such as that of a proxy while the server restarts. */
const retryMs = 15_000;

/**
 * How many notifications are unread, kept current by the server's stream. Only a visible page has one: browsers allow few
 * connections, and the first message after a sleep has the present state.
 */
export function useUnread(): number {
  const [unread, setUnread] = useState(0);
  const client = useQueryClient();
  useEffect(() => {
    let source: EventSource | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    function close(): void {
      clearTimeout(timer);
      source?.close();
      source = null;
    }
    function follow(): void {
      close();
      if (document.visibilityState !== "visible") return;
      const opened = new EventSource(streamNotifications.path);
      source = opened;
      opened.onmessage = ({ data }: MessageEvent<string>) => {
        const state: NotificationState = JSON.parse(data);
        setUnread(state.unread);
        void client.invalidateQueries({ queryKey: notificationsKey });
      };
      // Where it isn't closed, the browser connects again.
      opened.onerror = () => {
        if (opened.readyState === EventSource.CLOSED) timer = setTimeout(follow, retryMs);
      };
    }
    follow();
    document.addEventListener("visibilitychange", follow);
    return () => {
      document.removeEventListener("visibilitychange", follow);
      close();
    };
  }, [client]);
  return unread;
}
