/** How a user learns of a kind of notification. Each but `off` also shows it in the app. */
export const notificationChannels = ["off", "app", "daily", "email"] as const;
export type NotificationChannel = (typeof notificationChannels)[number];

interface Definition {
  /** When it happens, as Settings → Notifications shows it. */
  readonly summary: string;
  readonly default: NotificationChannel;
  /** Who can receive it; `operators`: admins of the operator's workspace. Default: every user. */
  readonly audience?: "admins" | "operators";
}

/** Every kind of notification, in the order of Settings → Notifications. */
export const notificationKinds = {
  mentioned: { summary: "Someone mentions me in a comment", default: "email" },
  replied: { summary: "Someone replies in a thread that I commented in", default: "app" },
  shared: { summary: "A recording is shared with me or my team", default: "email" },
  access_requested: { summary: "Someone requests access to my recording", default: "email" },
  access_granted: { summary: "I get access to a recording that I requested", default: "email" },
  action_item_assigned: { summary: "An action item is assigned to me", default: "app" },
  recording_ready: { summary: "The transcript and summary of my meeting are ready", default: "app" },
  upload_failed: { summary: "My upload fails", default: "email" },
  import_ended: { summary: "An import that I started ends", default: "app", audience: "admins" },
  backup_failed: { summary: "A backup fails or is overdue", default: "email", audience: "operators" },
  disk_nearly_full: { summary: "The server's disk is nearly full", default: "email", audience: "operators" },
  job_failing: { summary: "A background job keeps failing", default: "email", audience: "operators" },
} as const satisfies Record<string, Definition>;

export type NotificationKind = keyof typeof notificationKinds;
export const notificationKindNames = Object.keys(notificationKinds) as [
  NotificationKind,
  ...NotificationKind[],
];

/** Who can receive a kind. */
export function audienceOf(kind: NotificationKind): "everyone" | "admins" | "operators" {
  const { audience }: Definition = notificationKinds[kind];
  return audience ?? "everyone";
}

/** How many unread notifications are counted; more are shown as this number and a plus sign. */
export const maxUnread = 100;

/** How long notifications are kept. */
export const notificationDays = 90;
