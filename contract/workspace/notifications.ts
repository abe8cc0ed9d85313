import { z } from "zod";
import { CursorInput, Milliseconds, NextCursor, Success, Timestamp, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { User } from "./directory.ts";
import {
  maxUnread,
  type NotificationChannel,
  type NotificationKind,
  notificationChannels,
  notificationDays,
  notificationKindNames,
  summaryEmailChannels,
} from "./notification-kinds.ts";

const tag = "Notifications";
const gate = "every_version";
/** Each user's own, of whatever role: like their questions. */
const permission = "read";
const rule = "Each user has their own; workspace tokens get 403.";

const Unread = z
  .int()
  .min(0)
  .max(maxUnread)
  .meta({ description: `Unread notifications; ${maxUnread} stands for more, too.` });

export const Notification = z
  .strictObject({
    id: Uuid,
    kind: z.enum(notificationKindNames),
    recording_id: Uuid.nullable().meta({ description: "null: it is not about a recording." }),
    recording_title: z.string().nullable(),
    actor: User.nullable().meta({ description: "The user who did it; null: Parley, or a deleted user." }),
    title: z.string().meta({ description: "What happened, in a sentence, in the language of the user." }),
    text: z.string().nullable().meta({ description: "The comment, action item or error, shortened." }),
    timestamp: Milliseconds.nullable().meta({ description: "The moment of the recording it is about." }),
    url: z.string().meta({ description: "The page of the web app that shows it." }),
    read_datetime: Timestamp.nullable(),
    created_datetime: Timestamp,
  })
  .meta({ id: "Notification" });
export type Notification = z.output<typeof Notification>;

export const listNotifications = operation({
  id: "listNotifications",
  tag,
  gate,
  permission,
  method: "GET",
  path: "/_/api/v1/notifications",
  summary: "List Notifications",
  description: `Lists the caller's notifications of the last ${notificationDays} days, newest first, paginated. A notification about a recording is listed only while the caller can see the recording. ${rule}`,
  query: z.object({
    unread: z.enum(["true", "false"]).optional().meta({ description: "true: only unread ones." }),
    cursor: CursorInput.optional(),
  }),
  response: z.strictObject({
    notifications: z.array(Notification),
    unread: Unread,
    cursor: NextCursor,
  }),
  errors: ["invalid_input", "invalid_cursor", "forbidden"],
});

export const readNotifications = operation({
  id: "readNotifications",
  tag,
  gate,
  permission,
  method: "POST",
  path: "/_/api/v1/notifications/read",
  summary: "Mark Notifications as Read",
  description: `Marks notifications of the caller as read: those with these ids, those about a recording, or all. ${rule}`,
  body: z
    .object({
      all: z.literal(true).optional(),
      ids: z.array(Uuid).max(1000).optional(),
      recording_id: Uuid.optional(),
    })
    .refine((body) => Object.values(body).filter((value) => value !== undefined).length === 1, {
      error: "give exactly one of all, ids and recording_id",
      path: ["ids"],
    }),
  response: Success,
  errors: ["invalid_json", "invalid_input", "body_too_large", "forbidden"],
});

/** What each message of the stream says. */
export const NotificationState = z.strictObject({
  unread: Unread,
  newest: Notification.pick({ id: true, kind: true, recording_id: true, created_datetime: true })
    .nullable()
    .meta({ description: "The newest notification, whether read or not." }),
});
export type NotificationState = z.output<typeof NotificationState>;

export const streamNotifications = operation({
  id: "streamNotifications",
  tag,
  gate,
  permission,
  isOpenEnded: true,
  method: "GET",
  path: "/_/api/v1/notifications/stream",
  summary: "Stream Notifications",
  description: `A stream of server-sent events: a message at once, and another whenever the caller's notifications change. Each has the present state as JSON, \`{unread, newest: {id, kind, recording_id, created_datetime}}\`, so that a client that was disconnected has missed nothing; read the content with List Notifications. An event \`comments\` with \`{recording_id}\` says that comments on a recording that the caller can see have changed; read them again after each connection, and after an event \`missed\`: some changes may not have been announced. The stream ends when the session or token does. ${rule}`,
  response: {
    contentType: "text/event-stream",
    description: "Messages with the number of unread notifications and the newest one.",
  },
  errors: ["forbidden"],
});

const Settings = z.strictObject({
  ...(Object.fromEntries(notificationKindNames.map((kind) => [kind, z.enum(notificationChannels)])) as Record<
    NotificationKind,
    z.ZodEnum<{ [C in NotificationChannel]: C }>
  >),
  summary_emailed: z.enum(summaryEmailChannels).meta({
    description: "Whether deliveries send the caller summaries of their meetings by email.",
  }),
});

const channels =
  "`email`: in the app and by email at once; `daily`: in the app and in an email in the morning; `app`: in the app alone; `off`: not at all.";

export const getNotificationSettings = operation({
  id: "getNotificationSettings",
  tag,
  gate,
  permission,
  method: "GET",
  path: "/_/api/v1/me/notification-settings",
  summary: "Get Notification Settings",
  description: `Returns how the caller is notified of each kind. ${channels} ${rule}`,
  response: Settings,
  errors: ["forbidden"],
});

export const updateNotificationSettings = operation({
  id: "updateNotificationSettings",
  tag,
  gate,
  permission,
  method: "PATCH",
  path: "/_/api/v1/me/notification-settings",
  summary: "Update Notification Settings",
  description: `Changes how the caller is notified of the named kinds. ${channels} ${rule}`,
  body: Settings.partial(),
  response: Settings,
  errors: ["invalid_json", "invalid_input", "body_too_large", "forbidden"],
});
