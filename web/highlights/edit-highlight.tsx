import { useLingui } from "@lingui/react/macro";
import { Group, NumberInput, TagsInput, Textarea } from "@mantine/core";
import { type ListedBody, updateHighlight } from "../api/highlights.ts";
import { useDraft } from "../common/drafts/use-draft.tsx";
import { clock } from "../common/format/time.ts";
import { Form, useForm } from "../common/forms/form.tsx";

interface HighlightDraft {
  readonly text: string;
  readonly tags: readonly string[];
  /** A string while it is being typed. */
  readonly startSec: number | string;
  readonly lengthSec: number | string;
}

/** Edits a highlight's text, tags and range. */
export function EditHighlight(props: { highlight: ListedBody; onDone: () => void; onCancel: () => void }) {
  const { t } = useLingui();
  const { highlight, onDone, onCancel } = props;
  const draft = useDraft<HighlightDraft>(`highlight:${highlight.id}`, {
    text: highlight.text,
    tags: highlight.tags,
    startSec: highlight.timestamp / 1000,
    lengthSec: highlight.duration / 1000,
  });
  const { text, tags, startSec, lengthSec } = draft.value;
  const save = useForm({
    run: () =>
      updateHighlight(highlight.id, {
        text,
        tags: [...tags],
        timestamp: Math.round(Number(startSec) * 1000),
        duration: Math.round(Number(lengthSec) * 1000),
      }),
    draft,
    onDone,
  });
  return (
    <Form form={save} label={t`Save`} onCancel={onCancel}>
      <Textarea
        label={t`Text`}
        required
        autosize
        maxLength={500}
        data-autofocus
        value={text}
        onChange={(event) => draft.change({ text: event.currentTarget.value })}
        error={save.errorOf("text")}
      />
      <TagsInput
        label={t`Tags`}
        description={t`Letters, numbers, dashes. Press Enter to add.`}
        value={[...tags]}
        onChange={(tags) => draft.change({ tags })}
        error={save.errorOf("tags")}
      />
      <Group grow align="flex-start">
        <NumberInput
          label={t`Start (seconds)`}
          description={clock(Number(startSec) * 1000)}
          min={0}
          max={highlight.recording.duration_ms / 1000}
          decimalScale={3}
          value={startSec}
          onChange={(startSec) => draft.change({ startSec })}
          error={save.errorOf("timestamp")}
        />
        <NumberInput
          label={t`Length (seconds)`}
          description={clock(Number(lengthSec) * 1000)}
          min={0.001}
          decimalScale={3}
          value={lengthSec}
          onChange={(lengthSec) => draft.change({ lengthSec })}
          error={save.errorOf("duration")}
        />
      </Group>
    </Form>
  );
}
