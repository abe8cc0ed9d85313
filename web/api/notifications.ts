import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import * as contract from "../../contract/workspace/notifications.ts";
import { type Body, call } from "./client/call.ts";

export type { Notification } from "../../contract/workspace/notifications.ts";

/** The key of the list, which is read again when the stream says that something changed. */
export const notificationsKey = ["notifications"] as const;

export const notificationsQuery = infiniteQueryOptions({
  queryKey: notificationsKey,
  queryFn: ({ pageParam, signal }) =>
    call(contract.listNotifications, { query: { cursor: pageParam ?? undefined }, signal }),
  initialPageParam: null as string | null,
  getNextPageParam: ({ cursor }) => cursor,
});

export const markNotificationsRead = (body: Body<typeof contract.readNotifications>) =>
  call(contract.readNotifications, { body });

export const notificationSettingsQuery = queryOptions({
  queryKey: ["notification-settings"],
  queryFn: ({ signal }) => call(contract.getNotificationSettings, { signal }),
});

export const updateNotificationSettings = (body: Body<typeof contract.updateNotificationSettings>) =>
  call(contract.updateNotificationSettings, { body });
