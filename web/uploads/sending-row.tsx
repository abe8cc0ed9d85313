import { ActionIcon, Alert, Button, Group, Loader, Progress, Text, VisuallyHidden } from "@mantine/core";
import {
  IconAlertTriangle,
  IconPlayerPauseFilled,
  IconPlayerPlayFilled,
  IconRefresh,
  IconX,
} from "@tabler/icons-react";
import { bytes } from "../common/bytes.ts";
import { lengthInWords } from "../common/time.ts";
import type { Sender, Sending } from "./sender.ts";
import classes from "./uploads.module.css";

/** What a screen reader says by itself; how far it is would be too much. */
const said: Partial<Record<Sending["status"], string>> = {
  sending: "is being sent",
  paused: "held",
  cut: "the connection was lost",
  refused: "can't be taken",
  convertible: "has to be converted",
  failed: "could not be sent",
};

/** A file on its way: how far it is, and what can be done about it. */
export function SendingRow({ sending, sender }: { sending: Sending; sender: Sender }) {
  const { key, file, status, sent } = sending;
  const percent = Math.floor((100 * sent) / Math.max(1, file.size));
  const isStarted =
    status === "sending" || status === "paused" || ((status === "cut" || status === "failed") && sent > 0);
  return (
    <div className={classes.sending}>
      <Group wrap="nowrap" gap="sm" align="flex-start">
        <div className={classes.grow}>
          <Text fw={600} className={classes.name ?? ""}>
            {file.name}
          </Text>
          <Text size="sm" c="dimmed" component="div">
            <State sending={sending} percent={percent} />
          </Text>
        </div>
        <Group gap={4} wrap="nowrap">
          {status === "sending" ? (
            <ActionIcon variant="subtle" aria-label={`Pause ${file.name}`} onClick={() => sender.pause(key)}>
              <IconPlayerPauseFilled size={18} />
            </ActionIcon>
          ) : null}
          {status === "paused" || status === "cut" ? (
            <ActionIcon
              variant="subtle"
              aria-label={`Go on with ${file.name}`}
              onClick={() => sender.resume(key)}
            >
              <IconPlayerPlayFilled size={18} />
            </ActionIcon>
          ) : null}
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`${isStarted || status === "waiting" || status === "cut" ? "Cancel" : "Remove"} ${file.name}`}
            onClick={() => sender.remove(key)}
          >
            <IconX size={18} />
          </ActionIcon>
        </Group>
      </Group>
      {isStarted ? (
        <Progress.Root size="sm" mt={8}>
          <Progress.Section
            value={percent}
            aria-label={`Sent of ${file.name}`}
            color={status === "sending" ? "indigo" : status === "failed" ? "red" : "gray"}
          />
        </Progress.Root>
      ) : null}
      <Trouble sending={sending} sender={sender} />
      <VisuallyHidden role="status">
        {said[status] === undefined ? "" : `${file.name}: ${said[status]}`}
      </VisuallyHidden>
    </div>
  );
}

function State({ sending, percent }: { sending: Sending; percent: number }) {
  const { status, file, sent, bytesPerSec, verdict } = sending;
  switch (status) {
    case "checking":
      return (
        <Group gap={8} component="span">
          <Loader size={12} aria-hidden /> Looking at the file
        </Group>
      );
    case "waiting":
      return `${bytes(file.size)} · waits for its turn`;
    case "sending": {
      if (sent === 0 || bytesPerSec === null || bytesPerSec === 0)
        return `${bytes(file.size)} · ${percent} % · sending`;
      const left = lengthInWords(Math.max(1000, ((file.size - sent) / bytesPerSec) * 1000));
      return `${bytes(sent)} of ${bytes(file.size)} · ${percent} % · ${bytes(bytesPerSec)}/s · ${left} left`;
    }
    case "cut":
      return `${percent} % · the connection was lost; this goes on by itself when it is back`;
    case "paused":
      return `${bytes(sent)} of ${bytes(file.size)} · ${percent} % · paused`;
    default:
      return verdict !== null && "facts" in verdict ? verdict.facts : bytes(file.size);
  }
}

function Trouble({ sending, sender }: { sending: Sending; sender: Sender }) {
  const { key, status, verdict, reason, file } = sending;
  if (status === "refused" && verdict?.kind === "refused")
    return (
      <Alert mt="xs" color="red" variant="light" icon={<IconAlertTriangle size={18} aria-hidden />} p="xs">
        <strong>{verdict.reason}</strong> {verdict.advice}
      </Alert>
    );
  if (status === "convertible" && verdict?.kind === "convertible")
    return (
      <Alert mt="xs" color="yellow" variant="light" icon={<IconRefresh size={18} aria-hidden />} p="xs">
        <Group justify="space-between" gap="xs">
          <span>
            <strong>{verdict.reason}</strong> The server can make a recording of it; that takes some time
            {sending.willBeReviewed ? ", and there is no review before" : ""}.
          </span>
          <Button size="xs" aria-label={`Send and convert ${file.name}`} onClick={() => sender.convert(key)}>
            Send and convert
          </Button>
        </Group>
      </Alert>
    );
  if (status === "failed")
    return (
      <Alert mt="xs" color="red" variant="light" icon={<IconAlertTriangle size={18} aria-hidden />} p="xs">
        <Group justify="space-between" gap="xs">
          <span>{reason}</span>
          {verdict === null ? null : (
            <Button
              size="xs"
              variant="default"
              aria-label={`Try again to send ${file.name}`}
              onClick={() => sender.resume(key)}
            >
              Try again
            </Button>
          )}
        </Group>
      </Alert>
    );
  return null;
}
