import { useLingui } from "@lingui/react/macro";
import { Select, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import {
  audienceOf,
  type NotificationChannel,
  type NotificationKind,
  notificationChannels,
  notificationKindNames,
  notificationKinds,
} from "../../../contract/workspace/notification-kinds.ts";
import { notificationSettingsQuery, updateNotificationSettings } from "../../api/notifications.ts";
import { sessionQuery } from "../../api/session.ts";
import { useAction } from "../../common/actions.tsx";
import { Loaded, SettingsPage } from "../parts.tsx";
import classes from "../settings.module.css";

const labels: Readonly<Record<NotificationChannel, string>> = {
  off: "Off",
  app: "In the app",
  daily: "In the app and a daily email",
  email: "In the app and by email at once",
};

const choices = notificationChannels.map((value) => ({ value, label: labels[value] }));

/** How the user is notified of each kind. */
export function NotificationsPage() {
  const { t } = useLingui();
  const query = useQuery(notificationSettingsQuery);
  const { data: session } = useQuery(sessionQuery);
  const client = useQueryClient();
  const save = useAction({
    run: updateNotificationSettings,
    onDone: (settings) => client.setQueryData(notificationSettingsQuery.queryKey, settings),
  });
  const canReceive = (kind: NotificationKind): boolean => {
    const audience = audienceOf(kind);
    if (audience === "everyone") return true;
    return audience === "admins" ? session?.user.role === "admin" : (session?.manages_system ?? false);
  };
  return (
    <SettingsPage
      title={t`Notifications`}
      lead={t`You are never notified of your own actions. The daily email is sent at 8 in the morning, server time.`}
    >
      <Loaded query={query}>
        {(settings) => (
          <ul className={classes.kinds} aria-label={t`Kinds of notifications`}>
            {notificationKindNames.filter(canReceive).map((kind) => (
              <li key={kind}>
                <Text id={`kind-${kind}`}>{notificationKinds[kind].summary}</Text>
                <Select
                  aria-labelledby={`kind-${kind}`}
                  data={choices}
                  value={settings[kind]}
                  allowDeselect={false}
                  checkIconPosition="right"
                  onChange={(channel) => {
                    const chosen = notificationChannels.find((one) => one === channel);
                    if (chosen !== undefined) save.mutate({ [kind]: chosen });
                  }}
                />
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </SettingsPage>
  );
}
