import { Anchor, Button, Group, SegmentedControl } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { usersQuery } from "../../api/directory.ts";
import { hooksQuery } from "../../api/settings/webhooks.ts";
import { whenInLine } from "../../common/format/time.ts";
import { Loaded, NoneYet, Row, Rows, SettingsPage, Tag } from "../parts.tsx";
import { eventTypeLabel } from "./event-types.ts";
import { NewWebhook } from "./new-webhook.tsx";
import { WebhookStatus } from "./status.tsx";

const parent = getRouteApi("/signed-in");

function webhookUrl(id: string): string {
  return `/settings/webhooks/${id}`;
}

/** The user's webhooks, and for admins those of the workspace, with their status. */
export function WebhooksPage() {
  const { session } = parent.useRouteContext();
  const [of, setOf] = useState<"me" | "workspace">("me");
  const hooks = useQuery(hooksQuery(of));
  const users = useQuery(usersQuery).data?.users ?? [];
  const [opened, { open, close }] = useDisclosure();
  return (
    <SettingsPage
      title="Webhooks"
      lead={
        of === "me"
          ? "Get an HTTP request when something changes in recordings you can access."
          : "Webhooks for everything in the workspace, created with the API and a workspace token. Admins manage them."
      }
      action={
        session.user.role === "viewer" || of === "workspace" ? undefined : (
          <Button leftSection={<IconPlus size={18} />} onClick={open}>
            {" "}
            Create webhook{" "}
          </Button>
        )
      }
    >
      {session.user.role === "admin" ? (
        <Group>
          <SegmentedControl
            size="xs"
            aria-label="Owner"
            value={of}
            onChange={(value) => setOf(value === "workspace" ? "workspace" : "me")}
            data={[
              { value: "me", label: "Mine" },
              { value: "workspace", label: "Workspace" },
            ]}
          />
        </Group>
      ) : null}
      <Loaded query={hooks}>
        {({ hooks }) =>
          hooks.length === 0 ? (
            <NoneYet>
              {of === "me"
                ? "No webhooks yet."
                : "No workspace webhooks. Create one with Create Hook in the API and a workspace token."}
            </NoneYet>
          ) : (
            <Rows label="Webhooks">
              {hooks.map((hook) => (
                <Row
                  key={hook.id}
                  title={
                    <Anchor component={Link} to={webhookUrl(hook.id)} fw={600} c="inherit">
                      {eventTypeLabel(hook.hook_type)}
                    </Anchor>
                  }
                  badges={
                    <>
                      <WebhookStatus hook={hook} />
                      {hook.pending > 0 ? <Tag tone="accent">{hook.pending} pending</Tag> : null}
                    </>
                  }
                  facts={[
                    hook.hook_url,
                    of === "workspace"
                      ? `created with a token of ${users.find(({ id }) => id === hook.user_id)?.name ?? "a former user"}`
                      : null,
                    hook.last_attempt === null
                      ? "no deliveries yet"
                      : `last sent ${whenInLine(hook.last_attempt.datetime)}${
                          hook.last_attempt.error === null ? "" : `: ${hook.last_attempt.error}`
                        }`,
                  ]}
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
