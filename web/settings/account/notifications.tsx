import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { Select, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import {
  audienceOf,
  type NotificationChannel,
  type NotificationKind,
  notificationChannels,
  notificationKindNames,
  summaryEmailChannels,
} from "../../../contract/workspace/notification-kinds.ts";
import { notificationSettingsQuery, updateNotificationSettings } from "../../api/notifications.ts";
import { sessionQuery } from "../../api/session.ts";
import { useAction } from "../../common/actions.tsx";
import { DeliveriesHint, Loaded, SettingsPage } from "../parts.tsx";
import classes from "../settings.module.css";

const labels: Readonly<Record<NotificationChannel, MessageDescriptor>> = {
  off: msg`Off`,
  app: msg`In the app`,
  daily: msg`In the app and a daily email`,
  email: msg`In the app and by email at once`,
};

/** When a notification of a kind is sent. */
const kinds: Readonly<Record<NotificationKind, MessageDescriptor>> = {
  mentioned: msg`Someone mentions me in a comment`,
  replied: msg`Someone replies in a thread that I commented in`,
  shared: msg`A recording is shared with me or my team`,
  access_requested: msg`Someone requests access to my recording`,
  access_granted: msg`I get access to a recording that I requested`,
  action_item_assigned: msg`An action item is assigned to me`,
  recording_ready: msg`The transcript and summary of my meeting are ready`,
  upload_failed: msg`My upload fails`,
  import_ended: msg`An import that I started ends`,
  backup_failed: msg`A backup fails or is overdue`,
  disk_nearly_full: msg`The server's disk is nearly full`,
  job_failing: msg`A background job keeps failing`,
};

/** How the user is notified of each kind. */
export function NotificationsPage() {
  const { t } = useLingui();
  const query = useQuery(notificationSettingsQuery);
  const { data: session } = useQuery(sessionQuery);
  const client = useQueryClient();
  const save = useAction({
    run: updateNotificationSettings,
    done: t`Saved.`,
    onDone: (settings) => client.setQueryData(notificationSettingsQuery.queryKey, settings),
  });
  const choices = notificationChannels.map((value) => ({ value, label: t(labels[value]) }));
  const canReceive = (kind: NotificationKind): boolean => {
    const audience = audienceOf(kind);
    if (audience === "everyone") return true;
    return audience === "admins" ? session?.user.role === "admin" : (session?.manages_system ?? false);
  };
  return (
    <SettingsPage
      title={t`Notifications`}
      lead={
        <>
          {t`You are never notified of your own actions. The daily email is sent at 8 in the morning, server time.`}{" "}
          <DeliveriesHint />
        </>
      }
    >
      <Loaded query={query}>
        {(settings) => (
          <ul className={classes.kinds} aria-label={t`Kinds of notifications`}>
            {notificationKindNames.filter(canReceive).map((kind) => (
              <li key={kind}>
                <Text id={`kind-${kind}`}>{t(kinds[kind])}</Text>
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
            <li>
              <Text id="kind-summary_emailed">{t`A summary of my meeting is sent to its participants by email`}</Text>
              <Select
                aria-labelledby="kind-summary_emailed"
                data={[
                  { value: "off", label: t(labels.off) },
                  { value: "email", label: t`By email` },
                ]}
                value={settings.summary_emailed}
                allowDeselect={false}
                checkIconPosition="right"
                onChange={(channel) => {
                  const chosen = summaryEmailChannels.find((one) => one === channel);
                  if (chosen !== undefined) save.mutate({ summary_emailed: chosen });
                }}
              />
            </li>
          </ul>
        )}
      </Loaded>
    </SettingsPage>
  );
}
