import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button, Group, Text } from "@mantine/core";
import { IconLinkOff } from "@tabler/icons-react";
import { useEffect, useRef } from "react";
import { LazyLinkManager } from "../../link-settings/lazy-link-manager.tsx";
import { useRecording } from "../context.ts";
import classes from "./share.module.css";

/** The links of a public recording, for users who can share it. */
export function PublicLinks() {
  const { id, view, playback, hasMedia } = useRecording();
  if (!view.can.share) return null;
  return (
    <div className={classes.links}>
      <LazyLinkManager
        target={{ kind: "recording", id }}
        title={view.recording.title}
        durationMs={view.recording.duration_ms}
        {...(hasMedia ? { nowMs: () => playback.getState().timeMs } : {})}
      />
    </div>
  );
}

/** Asks for confirmation before a recording stops being public, which deletes its links. */
export function LeavePublic(props: { isBusy: boolean; onKeep: () => void; onLeave: () => void }) {
  const { t } = useLingui();
  const keep = useRef<HTMLButtonElement>(null);
  useEffect(() => keep.current?.focus(), []);
  return (
    <Alert
      color="red"
      variant="light"
      c="bright"
      role="alert"
      icon={<IconLinkOff size={18} aria-hidden />}
      title={t`Remove all public links?`}
    >
      <Text size="sm">
        <Trans>
          They stop working immediately for everyone. If you publish the recording again, it gets new links.
        </Trans>
      </Text>
      <Group gap="xs" mt="xs">
        <Button ref={keep} size="xs" variant="default" onClick={props.onKeep}>
          <Trans>Keep public</Trans>
        </Button>
        <Button size="xs" color="red.9" loading={props.isBusy} onClick={props.onLeave}>
          <Trans>Remove links</Trans>
        </Button>
      </Group>
    </Alert>
  );
}
