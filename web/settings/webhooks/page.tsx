import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { type Hook, hookQuery } from "../../api/settings/webhooks.ts";
import { namesInSentence } from "../../common/format/names.ts";
import { ServerText } from "../../common/format/server-text.tsx";
import { whenInLine } from "../../common/format/time.ts";
import { BackLink } from "../../common/page-frame.tsx";
import { Loaded, SettingsPage } from "../parts.tsx";
import classes from "../settings.module.css";
import { WebhookActions } from "./actions.tsx";
import { Deliveries } from "./deliveries.tsx";
import { eventTypeLabels, includesOf } from "./event-types.ts";
import { WebhookStatus } from "./status.tsx";

const page = getRouteApi("/signed-in/settings/webhooks/$hookId");
const parent = getRouteApi("/signed-in");

/** One webhook: status, actions and deliveries. */
export function WebhookPage() {
  const { t } = useLingui();
  const { hookId } = page.useParams();
  const { session } = parent.useRouteContext();
  const hook = useQuery(hookQuery(hookId));
  const canManage = session.user.role !== "viewer";
  return (
    <Stack gap="sm">
      <BackLink to="/settings/webhooks">{t`Webhooks`}</BackLink>
      <Loaded query={hook}>
        {(hook) => (
          <SettingsPage
            title={t(eventTypeLabels[hook.hook_type])}
            lead={<span className={classes.url}>{hook.hook_url}</span>}
          >
            <State hook={hook} />
            {canManage ? <WebhookActions hook={hook} /> : null}
            <Deliveries hook={hook} canManage={canManage} />
          </SettingsPage>
        )}
      </Loaded>
    </Stack>
  );
}

function State({ hook }: { hook: Hook }) {
  const { t } = useLingui();
  const names = includesOf(hook.hook_type);
  const includes = Object.entries(hook.include)
    .filter(([, value]) => value !== false)
    .map(([name]) => (names[name] === undefined ? name : t(names[name])));
  const included = namesInSentence(includes);
  const created = whenInLine(hook.inserted_at);
  const { version } = hook;
  const until = hook.previous_secret_until === null ? null : whenInLine(hook.previous_secret_until);
  return (
    <Stack gap="sm">
      <div className={classes.facts}>
        <WebhookStatus hook={hook} />
        {hook.scope === "workspace" ? (
          <span>
            <Trans>workspace webhook</Trans>
          </span>
        ) : null}
        <span>
          <Trans>created {created}</Trans>
        </span>
        <span>
          <Trans>version {version}</Trans>
        </span>
        {includes.length === 0 ? null : (
          <span>
            <Trans>includes {included}</Trans>
          </span>
        )}
        {until === null ? null : (
          <span>
            <Trans>also signed with the old secret until {until}</Trans>
          </span>
        )}
      </div>
      {hook.enabled && hook.failing_since === null ? null : (
        <Alert
          variant="light"
          color={hook.enabled ? "yellow" : "red"}
          c="bright"
          icon={<IconAlertTriangle size={18} aria-hidden />}
          title={hook.enabled ? t`Every attempt fails` : t`Webhook disabled`}
        >
          <Problem hook={hook} />
        </Alert>
      )}
    </Stack>
  );
}

/** What a webhook that fails or is disabled means for the user. */
function Problem({ hook }: { hook: Hook }) {
  const since = hook.failing_since === null ? null : whenInLine(hook.failing_since);
  const reason = hook.enabled ? hook.last_attempt?.error : hook.disabled_reason;
  return (
    <>
      {reason == null ? null : (
        <Text inherit>
          <ServerText text={reason} />
        </Text>
      )}
      <Text inherit>
        {hook.enabled && since !== null ? (
          <Trans>Since {since}. It is disabled after five days without a successful delivery.</Trans>
        ) : (
          <Trans>No events are sent. Enable it and use Replay to send the missed events.</Trans>
        )}
      </Text>
    </>
  );
}
