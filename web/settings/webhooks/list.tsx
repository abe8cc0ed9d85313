import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Button, Group, SegmentedControl } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { usersQuery } from "../../api/directory.ts";
import { type Hook, hooksQuery } from "../../api/settings/webhooks.ts";
import { whenInLine } from "../../common/format/time.ts";
import { DeliveriesHint, Loaded, NoneYet, Row, Rows, SettingsPage, Tag } from "../parts.tsx";
import { eventTypeLabels } from "./event-types.ts";
import { NewWebhook } from "./new-webhook.tsx";
import { WebhookStatus } from "./status.tsx";

const parent = getRouteApi("/signed-in");

function webhookUrl(id: string): string {
  return `/settings/webhooks/${id}`;
}

/** The user's webhooks, and for admins those of the workspace, with their status. */
export function WebhooksPage() {
  const { t } = useLingui();
  const { session } = parent.useRouteContext();
  const [of, setOf] = useState<"me" | "workspace">("me");
  const hooks = useQuery(hooksQuery(of));
  const users = useQuery(usersQuery).data?.users ?? [];
  const [opened, { open, close }] = useDisclosure();
  return (
    <SettingsPage
      title={t`Webhooks`}
      lead={
        of === "me" ? (
          <>
            {t`Get an HTTP request when something changes in recordings you can access.`} <DeliveriesHint />
          </>
        ) : (
          t`Webhooks for everything in the workspace, created with the API and a workspace token. Admins manage them.`
        )
      }
      action={
        session.user.role === "viewer" || of === "workspace" ? undefined : (
          <Button leftSection={<IconPlus size={18} />} onClick={open}>
            <Trans>Create webhook</Trans>
          </Button>
        )
      }
    >
      {session.user.role === "admin" ? (
        <Group>
          <SegmentedControl
            size="xs"
            aria-label={t`Owner`}
            value={of}
            onChange={(value) => setOf(value === "workspace" ? "workspace" : "me")}
            data={[
              { value: "me", label: t`Mine` },
              { value: "workspace", label: t`Workspace` },
            ]}
          />
        </Group>
      ) : null}
      <Loaded query={hooks}>
        {({ hooks }) =>
          hooks.length === 0 ? (
            <NoneYet>
              {of === "me"
                ? t`No webhooks yet.`
                : t`No workspace webhooks. Create one with Create Hook in the API and a workspace token.`}
            </NoneYet>
          ) : (
            <Rows label={t`Webhooks`}>
              {hooks.map((hook) => (
                <HookRow
                  key={hook.id}
                  hook={hook}
                  creator={of === "me" ? null : users.find(({ id }) => id === hook.user_id)?.name}
                />
              ))}
            </Rows>
          )
        }
      </Loaded>
      <NewWebhook opened={opened} onClose={close} />
    </SettingsPage>
  );
}

/** @param props.creator null: the user; undefined: a former user. */
function HookRow({ hook, creator }: { hook: Hook; creator: string | null | undefined }) {
  const { t } = useLingui();
  const sent = hook.last_attempt === null ? null : whenInLine(hook.last_attempt.datetime);
  const error = hook.last_attempt?.error;
  return (
    <Row
      title={
        <Anchor component={Link} to={webhookUrl(hook.id)} fw={600} c="inherit">
          {t(eventTypeLabels[hook.hook_type])}
        </Anchor>
      }
      badges={
        <>
          <WebhookStatus hook={hook} />
          {hook.pending > 0 ? (
            <Tag tone="accent">
              <Plural value={hook.pending} one="# pending" other="# pending" />
            </Tag>
          ) : null}
        </>
      }
      facts={[
        hook.hook_url,
        creator === null
          ? null
          : creator === undefined
            ? t`created with a token of a former user`
            : t`created with a token of ${creator}`,
        sent === null
          ? t`no deliveries yet`
          : error == null
            ? t`last sent ${sent}`
            : t`last sent ${sent}: ${error}`,
      ]}
    />
  );
}
