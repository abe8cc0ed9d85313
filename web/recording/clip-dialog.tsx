import { Button, Group, RangeSlider, Stack, Text, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type RecordingHighlight, refreshRecording } from "../api/recording.ts";
import { errorText } from "../common/actions.tsx";
import { FormDialog } from "../common/dialogs/form-dialog.tsx";
import { DraftNotice, useDraft } from "../common/drafts/use-draft.tsx";
import { clock, lengthInWords } from "../common/format/time.ts";
import type { ClipRange } from "../transcript/selection-toolbar.tsx";
import { useRecording } from "./context.ts";

/** How far a clip can be extended beyond the selection. */
const roomMs = 30_000;
const minClipMs = 1000;
const maxTitleCharacters = 100;

/** Creates or edits a highlight. @param range null while closed. */
export function ClipDialog(props: {
  clip: RecordingHighlight | null;
  range: ClipRange | null;
  onClose: () => void;
}) {
  const { clip, range, onClose } = props;
  return (
    <FormDialog
      opened={range !== null}
      onClose={onClose}
      title={clip === null ? "New clip" : "Edit highlight"}
    >
      {range === null ? null : <Form clip={clip} range={range} onClose={onClose} />}
    </FormDialog>
  );
}

interface ClipDraft {
  readonly text: string;
  /** Milliseconds. */
  readonly start: number;
  readonly end: number;
}

function Form({
  clip,
  range,
  onClose,
}: {
  clip: RecordingHighlight | null;
  range: ClipRange;
  onClose: () => void;
}) {
  const { id, view, actions } = useRecording();
  const client = useQueryClient();
  const maxMs = view.recording.duration_ms;
  const draft = useDraft<ClipDraft>(
    clip === null ? `clip:${id}:${Math.round(range.startMs)}` : `highlight-clip:${clip.id}`,
    {
      text: shorten(range.text),
      start: Math.min(range.startMs, Math.max(0, maxMs - 1)),
      end: Math.min(Math.max(range.endMs, range.startMs + 1), maxMs),
    },
  );
  const { text, start, end } = draft.value;
  const [room] = useState(() => ({
    from: Math.max(0, start - roomMs),
    to: Math.min(maxMs, end + roomMs),
    // A short line stays short: extending it would include other speakers.
    minRange: Math.min(minClipMs, end - start),
  }));
  const save = useMutation({
    mutationFn: () => {
      const body = {
        text: text.trim(),
        timestamp: Math.round(start),
        duration: Math.max(1, Math.round(end - start)),
      };
      return clip === null ? actions.addHighlight(body) : actions.updateHighlight(clip.id, body);
    },
    onSuccess: async () => {
      draft.saved();
      await refreshRecording(client, id);
      onClose();
      notifications.show({
        message: clip === null ? "Clip saved to Highlights" : "Highlight saved",
      });
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") save.mutate();
      }}
    >
      <Stack>
        <DraftNotice draft={draft} />
        <TextInput
          label="Title"
          placeholder="What is this about?"
          required
          maxLength={500}
          dir="auto"
          data-autofocus
          value={text}
          onChange={(event) => draft.change({ text: event.currentTarget.value })}
          error={save.isError ? errorText(save.error) : null}
        />
        <div>
          <Text size="sm" mb={8}>
            From {clock(start)} to {clock(end)} · {lengthInWords(end - start)}
          </Text>
          <RangeSlider
            min={room.from}
            max={room.to}
            step={500}
            minRange={room.minRange}
            value={[start, end]}
            onChange={([start, end]) => draft.change({ start, end })}
            label={null}
            thumbFromLabel="Start"
            thumbToLabel="End"
            thumbValueText={(value) => clock(value)}
          />
        </div>
        <Group justify="flex-end">
          <Button
            variant="default"
            onClick={() => {
              draft.forget();
              onClose();
            }}
          >
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending} disabled={text.trim() === ""}>
            {clip === null ? "Create clip" : "Save"}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** The start of the excerpt as the default title. */
function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  if (line.length <= maxTitleCharacters) return line;
  return `${line.slice(0, line.lastIndexOf(" ", maxTitleCharacters) || maxTitleCharacters)}…`;
}
