import { Button, Group, Modal, RangeSlider, Stack, Text, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../api/client.ts";
import { type Clip, refreshRecording } from "../api/recording.ts";
import { clock, lengthInWords } from "../common/time.ts";
import { type ClipRange, useRecording } from "./context.ts";

/** How far a clip can be drawn beyond what was chosen. */
const roomMs = 30_000;
const leastMs = 1000;
const titleLetters = 100;

/** Title and range of a highlight, new or changed. @param range null: closed. */
export function ClipDialog(props: { clip: Clip | null; range: ClipRange | null; onClose: () => void }) {
  const { clip, range, onClose } = props;
  return (
    <Modal
      opened={range !== null}
      onClose={onClose}
      title={clip === null ? "New clip" : "Change the highlight"}
    >
      {range === null ? null : <Form clip={clip} range={range} onClose={onClose} />}
    </Modal>
  );
}

function Form({ clip, range, onClose }: { clip: Clip | null; range: ClipRange; onClose: () => void }) {
  const { id, view, actions } = useRecording();
  const client = useQueryClient();
  const most = view.recording.duration_ms;
  const [text, setText] = useState(shorten(range.text));
  const [[start, end], setRange] = useState<[number, number]>([
    Math.min(range.startMs, Math.max(0, most - leastMs)),
    Math.min(Math.max(range.endMs, range.startMs + leastMs), most),
  ]);
  const [room] = useState(() => ({ from: Math.max(0, start - roomMs), to: Math.min(most, end + roomMs) }));
  const keep = useMutation({
    mutationFn: () => {
      const body = {
        text: text.trim(),
        timestamp: Math.round(start),
        duration: Math.max(1, Math.round(end - start)),
      };
      return clip === null ? actions.addClip(body) : actions.changeClip(clip.id, body);
    },
    onSuccess: async () => {
      await refreshRecording(client, id);
      onClose();
      notifications.show({
        message: clip === null ? "The clip is among the highlights now" : "The highlight was changed",
      });
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") keep.mutate();
      }}
    >
      <Stack>
        <TextInput
          label="Title"
          placeholder="What is this about?"
          required
          maxLength={500}
          dir="auto"
          data-autofocus
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          error={
            keep.isError
              ? keep.error instanceof ApiError
                ? keep.error.message
                : "Something went wrong."
              : null
          }
        />
        <div>
          <Text size="sm" mb={8}>
            From {clock(start)} to {clock(end)} · {lengthInWords(end - start)}
          </Text>
          <RangeSlider
            min={room.from}
            max={room.to}
            step={500}
            minRange={leastMs}
            value={[start, end]}
            onChange={setRange}
            label={null}
            thumbFromLabel="Begins at"
            thumbToLabel="Ends at"
            thumbValueText={(value) => clock(value)}
          />
        </div>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={keep.isPending} disabled={text.trim() === ""}>
            {clip === null ? "Make the clip" : "Save"}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** The beginning of what is said serves as a title until somebody writes a better one. */
function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  if (line.length <= titleLetters) return line;
  return `${line.slice(0, line.lastIndexOf(" ", titleLetters) || titleLetters)}…`;
}
