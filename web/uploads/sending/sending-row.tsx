import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Alert, Button, Group, Loader, Progress, Text, VisuallyHidden } from "@mantine/core";
import { IconAlertTriangle, IconPlayerPauseFilled, IconPlayerPlayFilled, IconX } from "@tabler/icons-react";
import { bytes } from "../../common/format/bytes.ts";
import { lengthInWords } from "../../common/format/time.ts";
import { ReloadButton } from "../../common/states.tsx";
import { FileWarnings } from "../file-check/file-warnings.tsx";
import classes from "../uploads.module.css";
import { type Sender, type UploadTask, warningsOf } from "./sender.ts";
import { taskName } from "./task-name.ts";

/** Announced by screen readers; progress would be too much. */
const announcements: Partial<Record<UploadTask["status"], string>> = {
  sending: "uploading",
  paused: "paused",
  disconnected: "connection lost",
  refused: "can't be uploaded",
  failed: "upload failed",
  sent: "uploaded",
};

/** A file being uploaded: progress and actions. */
export function TaskRow({ sending, sender }: { sending: UploadTask; sender: Sender }) {
  const { t } = useLingui();
  const { key, file, status, sent, texts } = sending;
  const name = taskName(sending);
  const percent = Math.floor((100 * sent) / Math.max(1, file.size));
  const isStarted =
    status === "sending" ||
    status === "paused" ||
    ((status === "disconnected" || status === "failed") && sent > 0);
  return (
    <div className={classes.sending}>
      <Group wrap="nowrap" gap="sm" align="flex-start">
        <div className={classes.grow}>
          <Text fw={600} className={classes.name ?? ""}>
            {name}
          </Text>
          {texts === null || texts.files.length === 0 ? null : (
            <Text size="sm">
              <Trans>With {texts.files.map((one) => one.name).join(" and ")}</Trans>
            </Text>
          )}
          <Text size="sm" c="dimmed" component="div">
            <State sending={sending} percent={percent} />
          </Text>
        </div>
        <Group gap={4} wrap="nowrap">
          {status === "sending" ? (
            <ActionIcon variant="subtle" aria-label={t`Pause ${name}`} onClick={() => sender.pause(key)}>
              <IconPlayerPauseFilled size={18} />
            </ActionIcon>
          ) : null}
          {status === "paused" || status === "disconnected" ? (
            <ActionIcon variant="subtle" aria-label={t`Resume ${name}`} onClick={() => sender.resume(key)}>
              <IconPlayerPlayFilled size={18} />
            </ActionIcon>
          ) : null}
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`${isStarted || status === "waiting" || status === "disconnected" ? t`Cancel` : t`Remove`} ${name}`}
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
            aria-label={t`Upload progress of ${name}`}
            color={status === "sending" ? "indigo" : status === "failed" ? "red" : "gray"}
          />
        </Progress.Root>
      ) : null}
      <Trouble sending={sending} sender={sender} />
      <FileWarnings texts={warningsOf(sending)} />
      <VisuallyHidden role="status">
        {announcements[status] === undefined ? "" : `${name}: ${announcements[status]}`}
      </VisuallyHidden>
    </div>
  );
}

function State({ sending, percent }: { sending: UploadTask; percent: number }) {
  const { t } = useLingui();
  const { status, file, sent, bytesPerSec, check } = sending;
  switch (status) {
    case "checking":
      return (
        <Group gap={8} component="span">
          <Loader size={12} aria-hidden /> <Trans>Checking file</Trans>
        </Group>
      );
    case "waiting":
      return t`${bytes(file.size)} · queued`;
    case "sending": {
      if (sent === 0 || bytesPerSec === null || bytesPerSec === 0)
        return t`${bytes(file.size)} · ${percent}% · uploading`;
      const left = lengthInWords(Math.max(1000, ((file.size - sent) / bytesPerSec) * 1000));
      return t`${bytes(sent)} of ${bytes(file.size)} · ${percent}% · ${bytes(bytesPerSec)}/s · ${left} left`;
    }
    case "disconnected":
      return t`${percent}% · connection lost; resumes automatically`;
    case "sent":
      return t`${bytes(file.size)} · uploaded`;
    case "paused":
      return t`${bytes(sent)} of ${bytes(file.size)} · ${percent}% · paused`;
    default:
      return check !== null && "facts" in check ? check.facts : bytes(file.size);
  }
}

function Trouble({ sending, sender }: { sending: UploadTask; sender: Sender }) {
  const { t } = useLingui();
  const { key, status, check, reason, needsReload } = sending;
  if (status === "refused" && check?.kind === "refused")
    return (
      <Alert mt="xs" color="red" variant="light" icon={<IconAlertTriangle size={18} aria-hidden />} p="xs">
        <strong>{check.reason}</strong> {check.advice}
      </Alert>
    );
  if (status !== "failed" && check?.kind === "convertible")
    return (
      <Text size="sm" c="dimmed" mt={4}>
        {check.reason}
      </Text>
    );
  if (status === "failed")
    return (
      <Alert mt="xs" color="red" variant="light" icon={<IconAlertTriangle size={18} aria-hidden />} p="xs">
        <Group justify="space-between" gap="xs">
          <span>{reason}</span>
          {needsReload ? (
            <ReloadButton />
          ) : check === null ? null : (
            <Button
              size="xs"
              variant="default"
              aria-label={t`Retry ${taskName(sending)}`}
              onClick={() => sender.resume(key)}
            >
              {" "}
              <Trans>Retry</Trans>{" "}
            </Button>
          )}
        </Group>
      </Alert>
    );
  return null;
}
