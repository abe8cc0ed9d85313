import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Stack, Text, Title } from "@mantine/core";
import { IconRepeat } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type DeliveryDetails, deliveryQuery, type Hook, resend } from "../../api/settings/webhooks.ts";
import { useAction } from "../../common/actions.tsx";
import { ServerText } from "../../common/format/server-text.tsx";
import { fullTime, timeOfDay } from "../../common/format/time.ts";
import { Loaded, Pre, Tag } from "../parts.tsx";
import classes from "../settings.module.css";
import { DeliveryTag } from "./delivery-tag.tsx";

/** One delivery: its request, and the response to each attempt. */
export function DeliveryView(props: { hook: Hook; deliveryId: string; canManage: boolean }) {
  const { t } = useLingui();
  const { hook, deliveryId, canManage } = props;
  const query = useQuery(deliveryQuery(hook.id, deliveryId));
  const again = useAction({
    run: () => resend(hook.id, deliveryId),
    done: t`Delivery queued again.`,
    refresh: [["hook", hook.id]],
  });
  return (
    <Loaded query={query}>
      {(delivery) => (
        <Stack gap="md">
          <Group justify="space-between">
            <Group gap="sm">
              <DeliveryTag state={delivery.state} />
              <Text size="sm" c="dimmed">
                {fullTime(delivery.created_datetime)}
              </Text>
            </Group>
            {canManage && hook.enabled && delivery.state !== "withheld" ? (
              <Button
                variant="light"
                size="xs"
                leftSection={<IconRepeat size={16} />}
                loading={again.isPending}
                onClick={() => again.mutate()}
              >
                <Trans>Resend</Trans>
              </Button>
            ) : null}
          </Group>
          <Request delivery={delivery} />
          <Attempts delivery={delivery} />
        </Stack>
      )}
    </Loaded>
  );
}

function Request({ delivery: { request } }: { delivery: DeliveryDetails }) {
  const { t } = useLingui();
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <div>
      <Title order={3} size="h5" mb={6}>
        <Trans>Request</Trans>
      </Title>
      <Pre label={t`URL and headers`} text={[`POST ${request.url}`, ...headers].join("\n")} />
      {request.body === null ? (
        <Text size="sm" c="dimmed" mt={6}>
          <Trans>No body available: it was not sent yet, or you no longer have access to its subject.</Trans>
        </Text>
      ) : (
        <div className={classes.under}>
          <Pre label={t`Body`} text={pretty(request.body)} />
        </div>
      )}
    </div>
  );
}

function Attempts({ delivery: { attempts_log: attempts } }: { delivery: DeliveryDetails }) {
  const { t } = useLingui();
  return (
    <div>
      <Title order={3} size="h5" mb={6}>
        {attempts.length === 0 ? t`No attempts yet` : t`Attempts`}
      </Title>
      <Stack gap="sm">
        {[...attempts].reverse().map(({ attempt, started_datetime, status, duration_ms, error, answer }) => (
          <div key={`${attempt} ${started_datetime}`}>
            <div className={classes.facts}>
              <Tag tone={error === null ? "good" : "bad"}>
                {status === null ? t`No response` : String(status)}
              </Tag>
              <span title={fullTime(started_datetime)}>{timeOfDay(started_datetime)}</span>
              <span>
                <Trans>{duration_ms} ms</Trans>
              </span>
              {error === null ? null : (
                <span>
                  <ServerText text={error} />
                </span>
              )}
            </div>
            {answer === null || answer === "" ? null : (
              <div className={classes.under}>
                <Pre label={t`Response to attempt ${attempt}`} text={answer} />
              </div>
            )}
          </div>
        ))}
      </Stack>
    </div>
  );
}

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
