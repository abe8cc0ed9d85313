import { ActionIcon, Badge, Button, Group, Menu, Modal, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import {
  IconDots,
  IconHighlight,
  IconLink,
  IconPencil,
  IconPlayerPlayFilled,
  IconPlus,
  IconTrash,
  IconWorld,
} from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../../api/client.ts";
import { type Clip, refreshRecording } from "../../api/recording.ts";
import { EmptyState } from "../../common/states.tsx";
import { clock, lengthInWords } from "../../common/time.ts";
import { Links } from "../../links/lazy-manager.tsx";
import { useClipboard } from "../clipboard.ts";
import { useRecording } from "../context.ts";
import { ClipDialog } from "../dialogs.ts";
import { MomentButton } from "./moment-button.tsx";
import classes from "./panels.module.css";

const newClipMs = 30_000;

/** The parts that somebody marked. */
export function HighlightsPanel() {
  const { view, playback, makeClip } = useRecording();
  const [changed, setChanged] = useState<Clip | null>(null);
  const [shared, setShared] = useState<Clip | null>(null);
  const clips = view.recording.highlights ?? [];
  const { add_highlights: canAdd } = view.can;
  const addHere = (): void => {
    const most = view.recording.duration_ms;
    const startMs = Math.min(Math.round(playback.getState().timeMs), Math.max(0, most - 1000));
    makeClip({ startMs, endMs: Math.min(most, startMs + newClipMs), text: "" });
  };
  const add = canAdd ? (
    <Button size="xs" variant="light" leftSection={<IconPlus size={16} aria-hidden />} onClick={addHere}>
      Mark this moment
    </Button>
  ) : undefined;
  if (clips.length === 0)
    return (
      <EmptyState
        title="No highlights yet"
        icon={<IconHighlight size={30} stroke={1.5} />}
        {...(add === undefined ? {} : { action: add })}
      >
        Select words in the transcript and press Clip, or mark the moment that plays.
      </EmptyState>
    );
  return (
    <Stack gap="xs">
      {add === undefined ? null : <Group justify="flex-end">{add}</Group>}
      <ul className={classes.plainList}>
        {clips.map((clip) => (
          <li key={clip.id}>
            <Group gap="sm" wrap="nowrap" align="flex-start" className={classes.item ?? ""}>
              <PlayButton clip={clip} />
              <Stack gap={2} flex={1} miw={0}>
                <Text fw={500} dir="auto" className={classes.breakable ?? ""}>
                  {clip.text}
                </Text>
                <Group gap={6}>
                  <MomentButton ms={clip.timestamp} />
                  <Text size="sm" c="dimmed">
                    {lengthInWords(clip.duration)}
                  </Text>
                  {clip.tags.map((tag) => (
                    <Badge key={tag} variant="default" size="sm" tt="none" fw={500}>
                      {tag}
                    </Badge>
                  ))}
                </Group>
              </Stack>
              <ClipMenu clip={clip} onChange={() => setChanged(clip)} onShare={() => setShared(clip)} />
            </Group>
          </li>
        ))}
      </ul>
      <ClipDialog
        clip={changed}
        range={
          changed === null
            ? null
            : {
                startMs: changed.timestamp,
                endMs: changed.timestamp + changed.duration,
                text: changed.text,
              }
        }
        onClose={() => setChanged(null)}
      />
      <Modal opened={shared !== null} onClose={() => setShared(null)} title="Public links" size="lg">
        {shared === null ? null : <Links target={{ kind: "highlight", id: shared.id }} title={shared.text} />}
      </Modal>
    </Stack>
  );
}

/** Plays the highlight and no more; where nothing can be played, its moment leads to its words. */
function PlayButton({ clip }: { clip: Clip }) {
  const { playback, hasMedia } = useRecording();
  if (!hasMedia) return null;
  return (
    <ActionIcon
      variant="light"
      radius="xl"
      size={34}
      aria-label={`Play the highlight ${clip.text}`}
      onClick={() =>
        playback.playClip({
          text: clip.text,
          startMs: clip.timestamp,
          endMs: clip.timestamp + clip.duration,
        })
      }
    >
      <IconPlayerPlayFilled size={16} />
    </ActionIcon>
  );
}

function ClipMenu(props: { clip: Clip; onChange: () => void; onShare: () => void }) {
  const { clip, onChange, onShare } = props;
  const { id, actions, view } = useRecording();
  const client = useQueryClient();
  const copy = useClipboard();
  const remove = useMutation({
    mutationFn: () => actions.removeClip(clip.id),
    onSuccess: async () => {
      await refreshRecording(client, id);
      notifications.show({ message: "The highlight was removed" });
    },
    onError: (error) =>
      notifications.show({
        color: "red",
        title: "Not removed",
        message: error instanceof ApiError ? error.message : "Something went wrong.",
      }),
  });
  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={`More for the highlight at ${clock(clip.timestamp)}`}
        >
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconLink size={16} />} onClick={() => copy.text(clip.url, "Link copied")}>
          Copy link
        </Menu.Item>
        {view.can.change ? (
          <Menu.Item leftSection={<IconWorld size={16} />} onClick={onShare}>
            Public links
          </Menu.Item>
        ) : null}
        {view.can.add_highlights ? (
          <>
            <Menu.Item leftSection={<IconPencil size={16} />} onClick={onChange}>
              Change
            </Menu.Item>
            <Menu.Item
              c="var(--mantine-color-error)"
              leftSection={<IconTrash size={16} />}
              onClick={() => remove.mutate()}
            >
              Remove
            </Menu.Item>
          </>
        ) : null}
      </Menu.Dropdown>
    </Menu>
  );
}
