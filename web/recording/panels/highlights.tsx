import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Badge, Button, Group, Menu, Stack, Text } from "@mantine/core";
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
import { ApiError } from "../../api/client/api-error.ts";
import { type RecordingHighlight, refreshRecording } from "../../api/recording/recording.ts";
import { useClipboard } from "../../common/clipboard.ts";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { clock, lengthInWords } from "../../common/format/time.ts";
import { EmptyState } from "../../common/states.tsx";
import { LazyLinkManager } from "../../link-settings/lazy-link-manager.tsx";
import { useRecording } from "../context.ts";
import { ClipDialog } from "../dialogs.ts";
import { MomentButton } from "./moment-button.tsx";
import classes from "./panels.module.css";

const newHighlightMs = 30_000;

/** The recording's highlights. */
export function HighlightsPanel() {
  const { t } = useLingui();
  const { view, playback, createClip } = useRecording();
  const [changed, setChanged] = useState<RecordingHighlight | null>(null);
  const [shared, setShared] = useState<RecordingHighlight | null>(null);
  const clips = view.recording.highlights ?? [];
  const { add_highlights: canAdd } = view.can;
  const addHere = (): void => {
    const maxMs = view.recording.duration_ms;
    const startMs = Math.min(Math.round(playback.getState().timeMs), Math.max(0, maxMs - 1000));
    createClip({ startMs, endMs: Math.min(maxMs, startMs + newHighlightMs), text: "" });
  };
  const add = canAdd ? (
    <Button size="xs" variant="light" leftSection={<IconPlus size={16} aria-hidden />} onClick={addHere}>
      <Trans>Highlight this moment</Trans>
    </Button>
  ) : undefined;
  if (clips.length === 0)
    return (
      <EmptyState
        title={t`No highlights yet`}
        icon={<IconHighlight size={30} stroke={1.5} />}
        {...(add === undefined ? {} : { action: add })}
      >
        <Trans>Select words in the transcript and choose Clip, or highlight the current moment.</Trans>
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
      <FormDialog opened={shared !== null} onClose={() => setShared(null)} title={t`Public links`} size="lg">
        {shared === null ? null : (
          <LazyLinkManager target={{ kind: "highlight", id: shared.id }} title={shared.text} />
        )}
      </FormDialog>
    </Stack>
  );
}

/** Plays only the highlight. Without media, the time button leads to its transcript. */
function PlayButton({ clip }: { clip: RecordingHighlight }) {
  const { t } = useLingui();
  const { playback, hasMedia } = useRecording();
  if (!hasMedia) return null;
  return (
    <ActionIcon
      variant="light"
      radius="xl"
      size={34}
      aria-label={t`Play highlight ${{ title: clip.text }}`}
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

function ClipMenu(props: { clip: RecordingHighlight; onChange: () => void; onShare: () => void }) {
  const { t } = useLingui();
  const { clip, onChange, onShare } = props;
  const { id, actions, view } = useRecording();
  const client = useQueryClient();
  const copy = useClipboard();
  const remove = useMutation({
    mutationFn: () => actions.deleteHighlight(clip.id),
    onSuccess: async () => {
      await refreshRecording(client, id);
      notifications.show({ message: t`Highlight deleted` });
    },
    onError: (error) =>
      notifications.show({
        color: "red",
        title: t`Couldn't delete`,
        message: error instanceof ApiError ? error.message : t`Something went wrong.`,
      }),
  });
  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={t`Actions for highlight at ${{ time: clock(clip.timestamp) }}`}
        >
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconLink size={16} />} onClick={() => copy.text(clip.url, t`Link copied`)}>
          <Trans>Copy link</Trans>
        </Menu.Item>
        {view.can.change ? (
          <Menu.Item leftSection={<IconWorld size={16} />} onClick={onShare}>
            <Trans>Public links</Trans>
          </Menu.Item>
        ) : null}
        {view.can.add_highlights ? (
          <>
            <Menu.Item leftSection={<IconPencil size={16} />} onClick={onChange}>
              <Trans>Edit</Trans>
            </Menu.Item>
            <Menu.Item
              c="var(--mantine-color-error)"
              leftSection={<IconTrash size={16} />}
              onClick={() => remove.mutate()}
            >
              <Trans>Delete</Trans>
            </Menu.Item>
          </>
        ) : null}
      </Menu.Dropdown>
    </Menu>
  );
}
