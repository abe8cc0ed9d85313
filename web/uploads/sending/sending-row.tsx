import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Alert, Button, Group, Loader, Progress, Text, VisuallyHidden } from "@mantine/core";
import { IconAlertTriangle, IconPlayerPauseFilled, IconPlayerPlayFilled, IconX } from "@tabler/icons-react";
import { bytes } from "../../common/format/bytes.ts";
import { namesInSentence } from "../../common/format/names.ts";
import { percent } from "../../common/format/numbers.ts";
import { lengthInWords } from "../../common/format/time.ts";
import { ReloadButton } from "../../common/states.tsx";
import { FileWarnings } from "../file-check/file-warnings.tsx";
import classes from "../uploads.module.css";
import { type Sender, type UploadTask, warningsOf } from "./sender.ts";
import { taskName } from "./task-name.ts";

/** Announced by screen readers; progress would be too much. */
const announcements: Partial<Record<UploadTask["status"], MessageDescriptor>> = {
  sending: msg`uploading`,
  paused: msg`paused`,
  disconnected: msg`connection lost`,
  refused: msg`can't be uploaded`,
  failed: msg`upload failed`,
  sent: msg`uploaded`,
};

/** A file being uploaded: progress and actions. */
export function TaskRow({ sending, sender }: { sending: UploadTask; sender: Sender }) {
  const { t } = useLingui();
  const { key, file, status, sent, texts } = sending;
  const name = taskName(sending);
  const announcement = announcements[status];
  const textNames = namesInSentence(texts?.files.map((one) => one.name) ?? []);
  const isRunning = isStarted(sending) || status === "waiting" || status === "disconnected";
  const percentage = Math.floor((100 * sent) / Math.max(1, file.size));
  return (
    <div className={classes.sending}>
      <Group wrap="nowrap" gap="sm" align="flex-start">
        <div className={classes.grow}>
          <Text fw={600} className={classes.name ?? ""}>
            {name}
          </Text>
          {texts === null || texts.files.length === 0 ? null : (
            <Text size="sm">
              <Trans>With {textNames}</Trans>
            </Text>
          )}
          <Text size="sm" c="dimmed" component="div">
            <State sending={sending} />
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
            aria-label={isRunning ? t`Cancel ${name}` : t`Remove ${name}`}
            onClick={() => sender.remove(key)}
          >
            <IconX size={18} />
          </ActionIcon>
        </Group>
      </Group>
      {isStarted(sending) ? (
        <Progress.Root size="sm" mt={8}>
          <Progress.Section
            value={percentage}
            aria-label={t`Upload progress of ${name}`}
            color={status === "sending" ? "indigo" : status === "failed" ? "red" : "gray"}
          />
        </Progress.Root>
      ) : null}
      <Trouble sending={sending} sender={sender} />
      <FileWarnings texts={warningsOf(sending).map((text) => text())} />
      <VisuallyHidden role="status">
        {announcement === undefined ? "" : `${name}: ${t(announcement)}`}
      </VisuallyHidden>
    </div>
  );
}

/** Whether a part of the file may be on the server. */
function isStarted({ status, sent }: UploadTask): boolean {
  return (
    status === "sending" ||
    status === "paused" ||
    ((status === "disconnected" || status === "failed") && sent > 0)
  );
}

function State({ sending }: { sending: UploadTask }) {
  const { t } = useLingui();
  const { status, file, sent, bytesPerSec, check } = sending;
  const [size, uploaded] = [bytes(file.size), bytes(sent)];
  const share = percent(Math.floor((100 * sent) / Math.max(1, file.size)) / 100);
  switch (status) {
    case "checking":
      return (
        <Group gap={8} component="span">
          <Loader size={12} aria-hidden /> <Trans>Checking file</Trans>
        </Group>
      );
    case "waiting":
      return t`${size} · queued`;
    case "sending": {
      if (sent === 0 || bytesPerSec === null || bytesPerSec === 0) return t`${size} · ${share} · uploading`;
      const left = lengthInWords(Math.max(1000, ((file.size - sent) / bytesPerSec) * 1000));
      const speed = bytes(bytesPerSec);
      return t`${uploaded} of ${size} · ${share} · ${speed}/s · ${left} left`;
    }
    case "disconnected":
      return t`${share} · connection lost; resumes automatically`;
    case "sent":
      return t`${size} · uploaded`;
    case "paused":
      return t`${uploaded} of ${size} · ${share} · paused`;
    default:
      return check !== null && "facts" in check ? check.facts() : size;
  }
}

function Trouble({ sending, sender }: { sending: UploadTask; sender: Sender }) {
  const { t } = useLingui();
  const { key, status, check, reason, needsReload } = sending;
  const name = taskName(sending);
  if (status === "refused" && check?.kind === "refused")
    return (
      <Alert mt="xs" color="red" variant="light" icon={<IconAlertTriangle size={18} aria-hidden />} p="xs">
        <strong>{check.reason()}</strong> {check.advice()}
      </Alert>
    );
  if (status !== "failed" && check?.kind === "convertible")
    return (
      <Text size="sm" c="dimmed" mt={4}>
        {check.reason()}
      </Text>
    );
  if (status === "failed")
    return (
      <Alert mt="xs" color="red" variant="light" icon={<IconAlertTriangle size={18} aria-hidden />} p="xs">
        <Group justify="space-between" gap="xs">
          <span>{reason?.()}</span>
          {needsReload ? (
            <ReloadButton />
          ) : check === null ? null : (
            <Button
              size="xs"
              variant="default"
              aria-label={t`Retry ${name}`}
              onClick={() => sender.resume(key)}
            >
              <Trans>Retry</Trans>
            </Button>
          )}
        </Group>
      </Alert>
    );
  return null;
}
