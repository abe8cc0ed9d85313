import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Button, Group, List, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import {
  type Connection,
  type ConnectionEvent,
  connectionEventsQuery,
  retryConnectionEvent,
} from "../../api/settings/connections.ts";
import { useAction } from "../../common/actions.tsx";
import { ServerText } from "../../common/format/server-text.tsx";
import { whenInLine } from "../../common/format/time.ts";
import { Loaded, Tag } from "../parts.tsx";

/** The latest events of a connection with their outcome. */
export function Events({ connection }: { connection: Connection }) {
  const { t } = useLingui();
  const events = useQuery(connectionEventsQuery(connection.id));
  const { name } = connection;
  return (
    <Loaded query={events}>
      {({ events }) =>
        events.length === 0 ? (
          <Text size="sm" c="dimmed">
            <Trans>No events yet.</Trans>
          </Text>
        ) : (
          <List size="sm" listStyleType="none" spacing={6} aria-label={t`Events of ${name}`}>
            {events.map((event) => (
              <List.Item key={event.id}>
                <Event connection={connection} event={event} />
              </List.Item>
            ))}
          </List>
        )
      }
    </Loaded>
  );
}

const states: Readonly<
  Record<
    ConnectionEvent["state"],
    { readonly label: MessageDescriptor; readonly tone?: "accent" | "good" | "warn" | "bad" }
  >
> = {
  pending: { label: msg`Waiting`, tone: "accent" },
  importing: { label: msg`Importing`, tone: "accent" },
  done: { label: msg`Imported`, tone: "good" },
  ignored: { label: msg`Ignored` },
  failed: { label: msg`Failed`, tone: "bad" },
};

function Event({ connection, event }: { connection: Connection; event: ConnectionEvent }) {
  const { t } = useLingui();
  const { label, tone } = states[event.state];
  const retry = useAction({
    run: () => retryConnectionEvent(connection.id, event.id),
    done: t`Event queued for retry.`,
    refresh: [connectionEventsQuery(connection.id).queryKey],
  });
  return (
    <Group gap="xs">
      <Tag tone={tone}>{t(label)}</Tag>
      <span>{event.type}</span>
      <Text span size="sm" c="dimmed">
        {whenInLine(event.created_datetime)}
      </Text>
      {event.recording_id === null ? null : (
        <Anchor size="sm" href={`/recordings/${event.recording_id}`}>
          <Trans>Open recording</Trans>
        </Anchor>
      )}
      {event.reason === null ? null : (
        <Text span size="sm">
          <ServerText text={event.reason} />
        </Text>
      )}
      {event.state === "failed" ? (
        <Button variant="subtle" size="compact-sm" loading={retry.isPending} onClick={() => retry.mutate()}>
          <Trans>Retry</Trans>
        </Button>
      ) : null}
    </Group>
  );
}
