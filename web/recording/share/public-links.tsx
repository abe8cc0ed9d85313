import { Alert, Button, Group, Text } from "@mantine/core";
import { IconLinkOff } from "@tabler/icons-react";
import { useEffect, useRef } from "react";
import { Links } from "../../links/lazy-manager.tsx";
import { useRecording } from "../context.ts";
import classes from "./share.module.css";

/** The links of a public recording, for those who may share it. */
export function PublicLinks() {
  const { id, view, playback, hasMedia } = useRecording();
  if (!view.can.change) return null;
  return (
    <div className={classes.links}>
      <Links
        target={{ kind: "recording", id }}
        title={view.recording.title}
        durationMs={view.recording.duration_ms}
        {...(hasMedia ? { nowMs: () => playback.getState().timeMs } : {})}
      />
    </div>
  );
}

/** Asks before a recording stops being public: its links end with that. */
export function LeavePublic(props: { isBusy: boolean; onKeep: () => void; onLeave: () => void }) {
  const keep = useRef<HTMLButtonElement>(null);
  useEffect(() => keep.current?.focus(), []);
  return (
    <Alert
      color="red"
      variant="light"
      c="bright"
      role="alert"
      icon={<IconLinkOff size={18} aria-hidden />}
      title="Its public links end for good"
    >
      <Text size="sm">
        They stop working at once for everybody who has them. Made public again, the recording gets other
        links.
      </Text>
      <Group gap="xs" mt="xs">
        <Button ref={keep} size="xs" variant="default" onClick={props.onKeep}>
          Keep it public
        </Button>
        <Button size="xs" color="red.9" loading={props.isBusy} onClick={props.onLeave}>
          End the links
        </Button>
      </Group>
    </Alert>
  );
}
