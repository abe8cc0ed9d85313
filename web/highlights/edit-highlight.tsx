import { Alert, Button, Group, NumberInput, Stack, TagsInput, Textarea } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../api/client.ts";
import { changeHighlight, type ListedBody } from "../api/highlights.ts";
import { clock } from "../common/time.ts";

/** Changes what a highlight says and which part of its recording it is. */
export function EditHighlight(props: { highlight: ListedBody; onDone: () => void; onCancel: () => void }) {
  const { highlight, onDone, onCancel } = props;
  const [text, setText] = useState(highlight.text);
  const [tags, setTags] = useState(highlight.tags);
  const [startSec, setStart] = useState<number | string>(highlight.timestamp / 1000);
  const [lengthSec, setLength] = useState<number | string>(highlight.duration / 1000);
  const save = useMutation({
    mutationFn: () =>
      changeHighlight(highlight.id, {
        text,
        tags,
        timestamp: Math.round(Number(startSec) * 1000),
        duration: Math.round(Number(lengthSec) * 1000),
      }),
    onSuccess: onDone,
  });
  const violations = save.error instanceof ApiError ? save.error.violations : [];
  const faultAt = (name: string) =>
    violations.find(({ pointer }) => pointer === `/${name}` || pointer.startsWith(`/${name}/`))?.detail;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <Stack gap="sm">
        <Textarea
          label="Text"
          required
          autosize
          maxLength={500}
          data-autofocus
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          error={faultAt("text")}
        />
        <TagsInput
          label="Tags"
          description="Letters, digits and dashes; Enter adds one."
          value={tags}
          onChange={setTags}
          error={faultAt("tags")}
        />
        <Group grow align="flex-start">
          <NumberInput
            label="Starts at (seconds)"
            description={clock(Number(startSec) * 1000)}
            min={0}
            max={highlight.recording.duration_ms / 1000}
            decimalScale={3}
            value={startSec}
            onChange={setStart}
            error={faultAt("timestamp")}
          />
          <NumberInput
            label="Length (seconds)"
            description={clock(Number(lengthSec) * 1000)}
            min={0.001}
            decimalScale={3}
            value={lengthSec}
            onChange={setLength}
            error={faultAt("duration")}
          />
        </Group>
        {save.isError && violations.length === 0 ? (
          <Alert color="red" variant="light">
            {save.error.message}
          </Alert>
        ) : null}
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
