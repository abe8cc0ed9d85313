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
import { whenInLine } from "../../common/format/time.ts";
import { Loaded, Tag } from "../parts.tsx";

/** The latest events of a connection with their outcome. */
export function Events({ connection }: { connection: Connection }) {
  const { t } = useLingui();
  const events = useQuery(connectionEventsQuery(connection.id));
  return (
    <Loaded query={events}>
      {({ events }) =>
        events.length === 0 ? (
          <Text size="sm" c="dimmed">
            <Trans>No events yet.</Trans>
          </Text>
        ) : (
          <List size="sm" listStyleType="none" spacing={6} aria-label={t`Events of ${connection.name}`}>
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
    { readonly label: string; readonly tone?: "accent" | "good" | "warn" | "bad" }
  >
> = {
  pending: { label: "Waiting", tone: "accent" },
  importing: { label: "Importing", tone: "accent" },
  done: { label: "Imported", tone: "good" },
  ignored: { label: "Ignored" },
  failed: { label: "Failed", tone: "bad" },
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
      <Tag tone={tone}>{label}</Tag>
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
          {event.reason}
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
