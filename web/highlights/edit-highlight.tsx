import { Alert, Button, Group, NumberInput, Stack, TagsInput, Textarea } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { ApiError } from "../api/client/api-error.ts";
import { type ListedBody, updateHighlight } from "../api/highlights.ts";
import { DraftNotice, useDraft } from "../common/drafts/use-draft.tsx";
import { clock } from "../common/format/time.ts";

interface HighlightDraft {
  readonly text: string;
  readonly tags: readonly string[];
  /** A string while it is being typed. */
  readonly startSec: number | string;
  readonly lengthSec: number | string;
}

/** Edits a highlight's text, tags and range. */
export function EditHighlight(props: { highlight: ListedBody; onDone: () => void; onCancel: () => void }) {
  const { highlight, onDone, onCancel } = props;
  const draft = useDraft<HighlightDraft>(`highlight:${highlight.id}`, {
    text: highlight.text,
    tags: highlight.tags,
    startSec: highlight.timestamp / 1000,
    lengthSec: highlight.duration / 1000,
  });
  const { text, tags, startSec, lengthSec } = draft.value;
  const save = useMutation({
    mutationFn: () =>
      updateHighlight(highlight.id, {
        text,
        tags: [...tags],
        timestamp: Math.round(Number(startSec) * 1000),
        duration: Math.round(Number(lengthSec) * 1000),
      }),
    onSuccess: () => {
      draft.saved();
      onDone();
    },
  });
  const violations = save.error instanceof ApiError ? save.error.violations : [];
  const errorAt = (name: string) =>
    violations.find(({ pointer }) => pointer === `/${name}` || pointer.startsWith(`/${name}/`))?.detail;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <Stack gap="sm">
        <DraftNotice draft={draft} />
        <Textarea
          label="Text"
          required
          autosize
          maxLength={500}
          data-autofocus
          value={text}
          onChange={(event) => draft.change({ text: event.currentTarget.value })}
          error={errorAt("text")}
        />
        <TagsInput
          label="Tags"
          description="Letters, numbers, dashes. Press Enter to add."
          value={[...tags]}
          onChange={(tags) => draft.change({ tags })}
          error={errorAt("tags")}
        />
        <Group grow align="flex-start">
          <NumberInput
            label="Start (seconds)"
            description={clock(Number(startSec) * 1000)}
            min={0}
            max={highlight.recording.duration_ms / 1000}
            decimalScale={3}
            value={startSec}
            onChange={(startSec) => draft.change({ startSec })}
            error={errorAt("timestamp")}
          />
          <NumberInput
            label="Length (seconds)"
            description={clock(Number(lengthSec) * 1000)}
            min={0.001}
            decimalScale={3}
            value={lengthSec}
            onChange={(lengthSec) => draft.change({ lengthSec })}
            error={errorAt("duration")}
          />
        </Group>
        {save.isError && violations.length === 0 ? (
          <Alert color="red" variant="light">
            {save.error.message}
          </Alert>
        ) : null}
        <Group justify="flex-end">
          <Button
            variant="default"
            onClick={() => {
              draft.forget();
              onCancel();
            }}
          >
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
