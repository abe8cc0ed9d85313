/** How a user learns of a kind of notification. Each but `off` also shows it in the app. */
export const notificationChannels = ["off", "app", "daily", "email"] as const;
export type NotificationChannel = (typeof notificationChannels)[number];

interface Definition {
  readonly default: NotificationChannel;
  /** Who can receive it; `operators`: admins of the operator's workspace. Default: every user. */
  readonly audience?: "admins" | "operators";
}

/** Every kind of notification, in the order of Settings → Notifications. */
export const notificationKinds = {
  mentioned: { default: "email" },
  replied: { default: "app" },
  shared: { default: "email" },
  access_requested: { default: "email" },
  access_granted: { default: "email" },
  action_item_assigned: { default: "app" },
  recording_ready: { default: "app" },
  upload_failed: { default: "email" },
  import_ended: { default: "app", audience: "admins" },
  backup_failed: { default: "email", audience: "operators" },
  disk_nearly_full: { default: "email", audience: "operators" },
  job_failing: { default: "email", audience: "operators" },
} as const satisfies Record<string, Definition>;

export type NotificationKind = keyof typeof notificationKinds;
export const notificationKindNames = Object.keys(notificationKinds) as [
  NotificationKind,
  ...NotificationKind[],
];

/** Emails of deliveries with the summaries of a user's meetings, which are no notifications: a user gets them or not. */
export const summaryEmailChannels = ["off", "email"] as const;

/** How a user is notified of each kind. */
export interface NotificationSettings extends Record<NotificationKind, NotificationChannel> {
  readonly summary_emailed: (typeof summaryEmailChannels)[number];
}

/** Who can receive a kind. */
export function audienceOf(kind: NotificationKind): "everyone" | "admins" | "operators" {
  const { audience }: Definition = notificationKinds[kind];
  return audience ?? "everyone";
}

/** How many unread notifications are counted; more are shown as this number and a plus sign. */
export const maxUnread = 100;

/** How long notifications are kept. */
export const notificationDays = 90;
